// The agents that this build has: one line each in agents/registry.inc. Immutable, any thread.
#pragma once

#include <span>
#include <string_view>

#include "agents/agent.h"

namespace witan::agents {

// By id.
std::span<const Agent* const> builtinAgents();
// Null: there is none of this id.
const Agent* findAgent(std::string_view id);

// What a spec must be: ids, limits, a subscription or timer at least, timers of a second or more. The error names the
// member.
Status checkSpec(const AgentSpec& spec);

}  // namespace witan::agents
