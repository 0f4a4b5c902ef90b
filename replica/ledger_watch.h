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

namespace witan::node {

class PartitionHost;
class Replica;

class LedgerWatch {
 public:
  LedgerWatch(Replica& replica, std::span<const agents::Agent* const> agents);

  // Looks at what has become durable. O(new entries). Errors: of reading the ledgers; corrupt, a row of its own.
  Status look(agents::AgentHost& host, Now now);
  // Whether there is something that it has not seen. O(watched partitions).
  bool behind() const;

 private:
  struct Watcher {
    std::string agentId;
    agents::LedgerSpec spec;
  };
  // Batches that were looked at, and the epoch of the last of them.
  struct Cursor {
    std::uint64_t batches = 0;
    std::uint64_t number = 0;
    std::string owner;
    WITAN_MEMBERS(Cursor, batches, number, owner)
  };

  Result<Cursor*> cursorOf(const std::string& row);
  // False: the agent's queue is full.
  Result<bool> lookAt(const Watcher& watcher, PartitionHost& partition, agents::AgentHost& host, Now now);

  Replica& replica_;
  std::vector<Watcher> watchers_;
  std::map<std::string, Cursor> cursors_;  // by row
  bool full_ = false;                      // the last look ended at a full queue: time alone does not help
};

}  // namespace witan::node
