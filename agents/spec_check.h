// Checks what an agent's author declares, before a host runs the agent. Pure, any thread.
#pragma once

#include "agents/agent.h"

namespace witan::agents {

// A spec needs valid ids, no duplicate names, at least one subscription, timer or ledger, and timers of a second or
// more. The error names the member.
Status checkSpec(const AgentSpec& spec);

}  // namespace witan::agents
