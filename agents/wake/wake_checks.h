// Checks of seed 003, section 10, invariants 3 and 5, over the records of a device: for tests and the simulator.
//
// Each check returns its findings in words; none: it holds. The checks recompute from the records and do not ask the
// wake center. Each has a case in which it fires (tests/agents/wake_checks_test.cpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "agents/wake/wake_job.h"
#include "replication/local_replica.h"

namespace witan::agents {

using Findings = std::vector<std::string>;

// The batches that a space holds, by dot. O(records).
Result<std::vector<replication::NotificationBatch>> batchesOf(replication::Space& space);

// Invariant 3: every token is typed and its key is the canonical one.
Findings untypedTokens(std::span<const replication::NotificationBatch> batches);

// Invariant 5, when the cluster is at rest: every run that was marked started has ended.
Findings runsWithoutEnd(std::span<const KnownRun> runs);

// No wake is lost, when the cluster is at rest: for every batch of every space and every subscription that it matches,
// the run has ended. Subscriptions with a predicate over entities are left out: these may have changed since.
Result<Findings> wakesWithoutEnd(replication::LocalReplica& replica, std::string_view runsScope,
                                 std::span<const AgentSpec* const> specs);

}  // namespace witan::agents
