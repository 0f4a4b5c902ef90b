// LedgerWatch: tells agents what the ledgers of this device say (agents/agent.h, LedgerSpec): each durable entry is
// looked at once, and what it makes of a watched field becomes a wake.
//
// How far it has looked stands in the agents' database, in the same batch as the wakes: a crash before their flush
// repeats the look, and the same fact again is no second wake. Where entries were set aside it looks again from there.
//
// Owned by AgentRuntime; not thread-safe. The replica outlives it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/host/agent_host.h"
#include "base/reflect.h"
#include "base/time.h"

namespace witan::node {

class PartitionHost;
class Replica;

// How far a reader has looked at the log of a partition: batches, and the epoch of the last of them.
struct LedgerCursor {
  std::uint64_t batches = 0;
  std::uint64_t number = 0;
  std::string owner;
  WITAN_MEMBERS(LedgerCursor, batches, number, owner)

  // Back to where the log is still the one that was looked at.
  void align(const PartitionHost& partition);
  // After it has moved. Whether it names another place than before.
  bool stamp(const PartitionHost& partition, std::uint64_t batchesBefore);
};

// Who made an entry, or began an entity, as the ledger has it.
struct LedgerMaker {
  Hash run{}, plan{};  // zeros: none
  std::string operationId;
};
struct LedgerEvent {
  agents::LedgerFact fact;
  Time time;
  LedgerMaker maker;
};
// What a batch made of the watched field. O(entries of the batch).
Result<std::vector<LedgerEvent>> ledgerFactsIn(const PartitionHost& partition, std::uint64_t batch,
                                               const agents::LedgerSpec& spec);

// How many runs lie behind an entry: what its maker's run says, never a name that it chose. 0: nobody's run made it.
// None: the record of that run is not here. `records`: those of agents, which may be null.
Result<std::optional<std::uint64_t>> hopsBehind(replication::Space* records, const LedgerMaker& maker);

// An entry has no member for hops: where a graph's run decides, this stands for its plan, and says them.
Hash graphPlan(const Hash& run, std::uint64_t hops);

class LedgerWatch {
 public:
  // `scope`: of the records of agents.
  LedgerWatch(Replica& replica, std::span<const agents::Agent* const> agents, std::string scope);

  // Looks at what has become durable. O(new entries). Errors: of reading the ledgers; corrupt, a row of its own.
  Status look(agents::AgentHost& host, Now now);
  // Whether there is something that it has not seen. O(watched partitions).
  bool behind() const;

 private:
  struct Watcher {
    std::string agentId;
    agents::LedgerSpec spec;
  };
  Result<LedgerCursor*> cursorOf(const std::string& row);
  // False: the agent's queue is full.
  Result<bool> lookAt(const Watcher& watcher, PartitionHost& partition, agents::AgentHost& host, Now now);

  Replica& replica_;
  const std::string scope_;
  std::vector<Watcher> watchers_;
  std::map<std::string, LedgerCursor> cursors_;  // by row
  bool full_ = false;                            // the last look ended at a full queue: time alone does not help
};

}  // namespace witan::node
