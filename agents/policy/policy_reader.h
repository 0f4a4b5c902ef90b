// Reads a policy from TOML; docs/examples/agents-policy.toml is one with comments.
//
// Pure function, any thread. Keys are the members' names of agents/policy/policy.h with '-' before capitals.
#pragma once

#include <string>
#include <string_view>

#include "agents/policy/policy.h"

namespace witan::agents {

// `name` stands in errors, which are of the form NAME:LINE:COLUMN: CAUSE. Errors: not TOML; unknown keys, with the
// nearest known one; missing keys; what checkPolicy finds. At most kMaxPolicyBytes.
Result<Policy> parsePolicyToml(std::string_view text, const std::string& name);

}  // namespace witan::agents
