// Checks of seed 003, section 10, invariants 3, 4 and 5, over what a device holds: for tests and the simulator.
//
// Each returns findings in words; none: it holds. They recompute from the records, not from what the wake center
// believes, and each has a case in which it fires (tests/agents/wake_checks_test.cpp).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/agent.h"
#include "agents/wake/run_log.h"
#include "replication/local_replica.h"

namespace witan::agents {

using Findings = std::vector<std::string>;

// The batches that a space holds, by dot. O(records).
Result<std::vector<replication::NotificationBatch>> batchesOf(replication::Space& space);

// Invariant 3: every token is typed and its key is the canonical one.
Findings untypedTokens(std::span<const replication::NotificationBatch> batches);

// Invariant 4: every run by subscription has the run key of a batch's logical change key, as its record's parts say.
// The batches of all spaces, none forgotten.
Findings runsOfNoChange(std::span<const KnownRun> runs, std::span<const replication::NotificationBatch> batches);

// Invariant 5, when the cluster is at rest: every run that was marked started has ended.
Findings runsWithoutEnd(std::span<const KnownRun> runs);

// No wake is lost, when the cluster is at rest: for every batch of every space and every subscription that it matches,
// the run has ended. Subscriptions with a predicate over entities are left out: these may have changed since.
Result<Findings> wakesWithoutEnd(replication::LocalReplica& replica, std::string_view runsScope,
                                 std::span<const AgentSpec* const> specs);

// No run begins on a device that knows of its end (seed 003, 6.1). Told by whoever drives the devices.
class RunWatch {
 public:
  // The device has flushed: it knows what its log says.
  Status observe(std::string_view device, replication::Space& runs);
  // A run was handed out to be executed.
  void started(std::string_view device, const RunKey& key);
  const Findings& findings() const { return findings_; }
  // How often the run was started, on all devices.
  std::size_t starts(const RunKey& key) const;

 private:
  std::set<std::pair<std::string, RunKey>> ended_;
  std::map<RunKey, std::size_t> starts_;
  Findings findings_;
};

}  // namespace witan::agents
