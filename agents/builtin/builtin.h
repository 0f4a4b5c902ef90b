// The built-in agents that know no domain. A domain brings its own (domains/extension.h); domains/agents.h lists all.
// Immutable, any thread.
#pragma once

#include <array>

#include "agents/agent.h"

namespace witan::agents {

const Agent& followUp();
const Agent& journalSummariser();

inline std::array<const Agent*, 2> genericAgents() { return {&followUp(), &journalSummariser()}; }

}  // namespace witan::agents
