// The adaptive protocol of condition I.b: agents that collide on purpose once, tell each other their roles, and then
// write a key each (seed 001, FQ30, FQ37; finding F19). Made by makeStrategies.
#pragma once

#include "coordination/strategy.h"

namespace witan::kernel::joint {

// By agent; kUnknown: none was found.
using Roles = std::vector<std::uint32_t>;

// Round 0 draws sha256(agent_id) modulo the number of agents (at least 2), round k sha256(agent_id + ":k"). Who draws
// a role that is free and that nobody else draws in that round keeps it; the others go on. With two agents this is the
// seed's rule: both draw again until their roles differ. Depends on the set of ids, on no order of them.
// Expected O(agents^2 * log agents) hashes at worst; gives up, for whoever is left, after 10,000 rounds.
Roles hashRoles(std::span<const AgentSetup> agents);

// What such an agent writes: "agent_1" writes "owned_by_1", what follows the last underscore, or the whole id where
// nothing does. Canonical JSON.
std::string ownedValue(std::string_view agentId);

std::unique_ptr<Strategy> makeHashPartition(const Setup& setup, AgentIndex agent, std::shared_ptr<const Roles> roles);

}  // namespace witan::kernel::joint
