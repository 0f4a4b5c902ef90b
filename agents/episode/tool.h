// What an episode knows of a tool before it is called: what it costs, where it takes data, which boundary it crosses.
// How it is called is the composition's business; nothing here can call anything.
//
// A plain value; pure functions, any thread. The tools that an episode may see are recorded with its beginning, so its
// transcript can be replayed by a build that has others.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "base/reflect.h"
#include "base/result.h"

namespace witan::agents::episode {

inline constexpr std::size_t kMaxTools = 256;  // that one episode sees

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
  WITAN_MEMBERS(ToolInfo, name, kind, tokens, seconds, locale, targetArgument, boundary, operation, provider, model,
                secret)
  static constexpr std::size_t required = 2;
  friend bool operator==(const ToolInfo&, const ToolInfo&) = default;
};

Status checkTool(const ToolInfo& tool);

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

// What a call touches: what it declares, and what its arguments name. Sorted, each once.
std::vector<std::string> targetsOf(const ToolInfo& tool, const json::object& arguments,
                                   std::span<const std::string> declared);

}  // namespace witan::agents::episode
