// What an episode holds: its capability context C and its locale Lambda (seed 004 sections 3 and 9). A fork only
// narrows them (Law 4, theorem "capability monotonicity"), so no chain of forks can do what the first episode could
// not.
//
// A plain value; pure functions, any thread. The policy decides as well: whoever holds a tool that the policy does not
// grant may not call it (agents/policy/monitor.h).
#pragma once

#include <string>
#include <vector>

#include "agents/policy/policy.h"

namespace witan::agents {

struct PolicyScope {
  std::vector<std::string> tools;
  std::vector<std::string> boundaries;
  std::vector<std::string> scopes;
  std::vector<std::string> locales;  // Lambda: where data of this episode may get to

  WITAN_MEMBERS(PolicyScope, tools, boundaries, scopes, locales)
  friend bool operator==(const PolicyScope&, const PolicyScope&) = default;
};

// Whether it has everything that `of` has. O(n log n).
bool covers(const PolicyScope& all, const PolicyScope& of);

// All that the grant gives: what an agent's first episode holds, at most. Nothing without a grant.
PolicyScope grantedScope(const Policy& policy, std::string_view agent, std::string_view category);

// The context of a sub-episode, sorted and without repetition. Error: unauthorised, naming what the parent does not
// have.
Result<PolicyScope> narrowScope(const PolicyScope& parent, PolicyScope wanted);

}  // namespace witan::agents
