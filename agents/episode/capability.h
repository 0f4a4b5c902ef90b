// C, the capabilities of an episode: which of them covers a call, and what it means that one is narrower than another
// (seed 004, Definition 2, Law 5 and the theorem "capability monotonicity").
//
// Pure functions, any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "base/result.h"

namespace witan::agents::episode {

inline constexpr std::size_t kMaxCapabilities = 256;

// "journal.put" covers itself, "journal.*" all that begins with "journal.", "*" everything. A family covers a smaller
// family in the same way.
bool coversResource(std::string_view pattern, std::string_view resource);

// Ids, a known form of the resource, no negative number of uses.
Status checkCapabilities(std::span<const Capability> capabilities);

// One call, as far as capabilities are concerned.
struct Reach {
  std::string_view tool;
  std::span<const std::string> targets;  // what it touches
  std::span<const std::string> locale;   // where its data gets to
};

// Whether the capability's predicate holds for the call, its uses apart. A capability for certain targets does not
// cover a call that names none: nobody could tell what it touches.
bool covers(const Capability& capability, const Reach& call);

// Whether every call that `inner` covers is covered by `outer`, and not more often. Reflexive and transitive.
bool within(const Capability& inner, const Capability& outer);

// The first capability that covers the call and has uses left; `used` counts those of each.
std::optional<std::size_t> firstCovering(std::span<const Capability> capabilities, std::span<const std::int64_t> used,
                                         const Reach& call);

}  // namespace witan::agents::episode
