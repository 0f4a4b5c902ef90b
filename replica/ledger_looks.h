// What agents of this device may look at beside the journal: its ledgers, each role's own slice and nothing more.
//
//   slice.read       {"domain", "entity", "role", "key"}    the cells of `key` in the columns that the role sees
//   disclosure.next  {"role", "case", "due", "opened"}      what the role's rules propose next about one vulnerability
//                                                           (domains/disclosure/advice.h), from its instance's slice:
//                                                           {"actions": [...], "due": text, "over": bool}
//
// Only where the device keeps the ledger, and only at what is in the log for good: until the copy shows that, a look
// waits (AgentDesk). Pure functions of the replica's state and the arguments; main thread.
#pragma once

#include "replica/embargo_seal.h"
#include "replica/replica_agents.h"

namespace witan::node {

// Lets the agents of `setup` take these looks. `seal` opens what is under embargo, for the rules only.
void addLedgerLooks(AgentSetup& setup, EmbargoSeal seal = {});

// Whether it can work only where ledgers are kept.
bool needsLedgers(const agents::Agent& agent);

// None: the call is of another tool.
std::optional<agents::episode::Observation> lookAtLedger(const Replica& replica, const EmbargoSeal& seal,
                                                         const agents::ToolCall& call, Now now);

}  // namespace witan::node
