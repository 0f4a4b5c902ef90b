// Ledger tools (agents/tools/ledger_tool.h) on this device's replica: an agent sees each role's own slice and nothing
// more.
//
// Only where the device keeps the ledger, and only at what is in the log for good: until the copy shows that, a look
// waits (AgentRuntime). Pure functions of the replica's state and the arguments; main thread.
#pragma once

#include "domains/agents.h"
#include "replica/agent_runtime.h"

namespace witan::node {

// Offers the ledger tools to the agents of `setup` and makes them known to its policy. Requires: the policy is set.
void addLedgerTools(AgentSetup& setup, agents::ContentSeals seals);

// Whether the agent can work only where ledgers are kept.
bool needsLedgers(const agents::Agent& agent);

}  // namespace witan::node
