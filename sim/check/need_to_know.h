// Checker "need-to-know" (seed 003, section 9.1 and section 10, invariant 7): what the simulated agents send outside
// has the fields of the allowlist of its operation, and no others; and nothing of what is marked as not to be told is
// in it, in whatever field. Written from the policy's intent (sim/sim_agents.h), not from the policy. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace witan::sim {

// "" or what is wrong.
std::string checkNeedToKnow(std::string_view tool, const json::object& arguments);

}  // namespace witan::sim
