// Tools and the capabilities that cover them (seed 004, Definition 2, Law 5 and the theorem "capability monotonicity").
//
// A ToolInfo says before a call what it costs, where it takes data and which boundary it crosses. The composition calls
// tools; nothing here can. An episode records the tools that it may see with its beginning, so a build that has other
// tools can replay its transcript. Values and pure functions, any thread.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "agents/decision/types.h"
#include "base/reflect.h"
#include "base/result.h"

namespace witan::agents::episode {

// --- capabilities

inline constexpr std::size_t kMaxCapabilities = 256;

// "journal.put" covers itself, "journal.*" all that begins with "journal.", "*" everything. A family covers a smaller
// family in the same way.
bool coversResource(std::string_view pattern, std::string_view resource);

// Ids, a known form of the resource, no negative number of uses.
Status checkCapabilities(std::span<const Capability> capabilities);

// The part of a call that capabilities judge.
struct Reach {
  std::string_view tool;
  std::span<const std::string> targets;  // what it touches
  std::span<const std::string> locale;   // where its data gets to
  decision::Tool needs = {};             // access and execution
};

// Whether the capability's predicate holds for the call, its uses apart. A capability for certain targets does not
// cover a call that names none, because its targets are unknown.
bool covers(const Capability& capability, const Reach& call);

// Whether every call that `inner` covers is covered by `outer`, and not more often. Reflexive and transitive.
bool within(const Capability& inner, const Capability& outer);

// The first capability that covers the call and has uses left; `used` counts those of each.
std::optional<std::size_t> firstCovering(std::span<const Capability> capabilities, std::span<const std::int64_t> used,
                                         const Reach& call);

// --- tools

inline constexpr std::size_t kMaxTools = 256;  // that one episode sees
inline constexpr std::size_t kMaxServed = 32;  // types of goals, of one tool

WITAN_ENUM(ToolKind, look, action)  // an action changes something; it is planned

struct ToolInfo {
  std::string name;
  ToolKind kind = ToolKind::look;
  std::int64_t tokens = 0;          // that a call costs at least, estimated
  std::int64_t seconds = 0;         // the same
  std::vector<std::string> locale;  // residency tags of where its data gets to; empty: it stays on the device
  std::string targetArgument;       // the argument that holds the id, or list of ids, that a call touches
  std::string boundary, operation;  // that the policy knows it by (agents/policy)
  std::string provider, model;      // of an inference
  std::string secret;               // name of the secret it needs
  Omittable<bool> execute = {};     // it executes code: only a capability with `execute` covers it
  Omittable<std::vector<std::string>> serves = {};  // types of goals
  WITAN_MEMBERS(ToolInfo, name, kind, tokens, seconds, locale, targetArgument, boundary, operation, provider, model,
                secret, execute, serves)
  static constexpr std::size_t required = 2;
  friend bool operator==(const ToolInfo& a, const ToolInfo& b) { return toJson(a) == toJson(b); }
};

Status checkTool(const ToolInfo& tool);

// What the decision logic (agents/decision/) is told of a tool, with the cost of a call, and of what a capability
// gives.
decision::Tool specOf(const ToolInfo& tool, const Budget& cost);
decision::State permissionsOf(const Capability& capability);

// By name. Must outlive nothing: an episode copies what it needs.
class ToolTable {
 public:
  // Errors: checkTool; conflict, the name is taken.
  Status add(ToolInfo tool);
  const ToolInfo* find(std::string_view name) const;
  // Those that some capability covers, by name: what an episode with these capabilities sees (Law 5).
  std::vector<ToolInfo> coveredBy(std::span<const Capability> capabilities) const;

 private:
  std::map<std::string, ToolInfo, std::less<>> tools_;
};

// The targets that a call declares and those that its arguments name. Sorted, each once.
std::vector<std::string> targetsOf(const ToolInfo& tool, const json::object& arguments,
                                   std::span<const std::string> declared);

}  // namespace witan::agents::episode
