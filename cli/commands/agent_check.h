// What must be true of a device whose agents have finished (seed 003, section 10 and Theorem 2; seed 000, Theorem 2),
// counted from its stores: each operation has one effect in each database, each run that was started has an end, no
// saga is left over, no operation has two entries, and every ledger verifies by deciding again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"

namespace witan::node {

struct AgentReport {
  std::uint64_t operations = 0;  // with a record in the journal or the agents' database
  std::uint64_t journalEffects = 0, runs = 0, sagas = 0, waiting = 0, ledgers = 0, entries = 0;
  std::vector<std::string> problems;  // the first few of each kind
  WITAN_MEMBERS(AgentReport, operations, journalEffects, runs, sagas, waiting, ledgers, entries, problems)
};

// Errors: of reading. O(everything).
Result<AgentReport> checkAgents(Replica& replica, const std::string& scope);

std::string checkWords(const AgentReport& report);

}  // namespace witan::node
