// Checker "need-to-know" (seed 003, section 9.1 and section 10, invariant 7): what the simulated agents send outside
// has the fields of the allowlist of its operation, and no others; and nothing of what is marked as not to be told is
// in it, in whatever field. Written from the policy's intent (sim/sim_agents.h), not from the policy. Any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "replication/vector_clock.h"

namespace witan::sim {

// What may not leave the devices: fields of requests begin with it.
inline constexpr std::string_view kNeedToKnow = "need-to-know-";

// Whether a confirmation stands: somebody's, and of those that nobody replaced none takes it back (seed 003, section
// 9.2). What it says is not looked at.
bool isConfirmed(std::span<const replication::Version> versions);

// "" or what is wrong.
std::string checkNeedToKnow(std::string_view tool, const json::object& arguments);

}  // namespace witan::sim
