// RunRetention: takes away what runs left that ended longer ago than a horizon: their transcripts, plans, approvals,
// records of operations and, last, the record of the run. And the notification batches of that time.
//
// The promises of runs hold within the horizon: nothing of them is forgotten earlier. Beyond it
//   nothing goes that some active device has not acknowledged, or while this device lacks what another one had;
//   the record of a run stays where the same cause may come again: a fact of a ledger, a graph, an agent that this
//   build does not know; so no such run is ever repeated;
//   a pass goes at most two days further than the one before it: a clock that jumps does not empty the records at once;
//   batches go before the runs that they woke, so no device that joins later is woken by them: they go a horizon after
//   all devices had them, and the record of a run that a batch woke stays for two (of a device that was cut off for
//   longer than a horizon the batch may stay longer);
//   operations are not undone any more, and a repeated turn of a user is a new run.
// Removals are tombstones and replicate, newest entry first, so what is left of a transcript is its beginning. Batches
// are forgotten on each device by itself. Everything stands in the pending batches of both databases; a part at a time.
// Not thread-safe, as the replica, which outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/time.h"
#include "replication/local_replica.h"
#include "replication/records/records.h"

namespace witan::agents {

struct RetentionOptions {
  std::string scope = "main";  // of the agents' database
  std::int64_t horizonMs = 0;  // 0: everything stays
  std::int64_t everyMs = 3'600'000;
  std::int64_t furtherMs = 2 * 86'400'000;  // most that one pass goes further than the last; 0: no limit, a person asks
  std::size_t runsAtOnce = 200;             // looked at in one step
};

// What went, in numbers.
struct Pruned {
  std::uint64_t runs = 0, entries = 0, plans = 0, operations = 0, approvals = 0, batches = 0;
  WITAN_MEMBERS(Pruned, runs, entries, plans, operations, approvals, batches)
};

class RunRetention {
 public:
  // `comesAgain`: whether the cause of a run may come again, however long ago it was.
  using ComesAgain = std::function<bool(const replication::WakeRunBody&)>;
  RunRetention(replication::LocalReplica& replica, RetentionOptions options, ComesAgain comesAgain)
      : replica_(replica), options_(std::move(options)), comesAgain_(std::move(comesAgain)) {}

  // One step, if it is time: the next part of the runs. `first`: this device takes away what all have; the others only
  // forget batches. Errors: of the stores. O(records) at the beginning of a pass, then O(runsAtOnce).
  Status step(bool first, Now now);
  // Whether a pass is under way, or when the next begins, by the steady clock; none: nothing is ever taken away.
  std::optional<std::int64_t> nextMs(Now now) const;

  // A pass is under way.
  bool underWay() const { return !waiting_.empty(); }
  const Pruned& pruned() const { return pruned_; }
  // Why the last pass took nothing away, for people; empty: it could.
  const std::string& held() const { return held_; }

 private:
  struct Removal;
  Status beginPass(std::int64_t wallMs);
  Result<std::int64_t> boundary(std::int64_t wallMs);
  bool mayComeAgain(const replication::WakeRunBody& run) const;
  Status pruneRun(const RunKey& run);
  Status forgetBatches(std::int64_t wallMs);

  replication::LocalReplica& replica_;
  const RetentionOptions options_;
  const ComesAgain comesAgain_;
  std::int64_t nextPassMs_ = 0;
  std::int64_t before_ = 0;           // of this pass: runs that ended earlier go
  std::vector<std::string> waiting_;  // keys of runs of this pass, the next one last
  std::set<RunKey> busy_;             // that have work left on this device: a wake or a saga
  replication::VectorClock agents_, journal_;
  Pruned pruned_;
  std::string held_;
};

}  // namespace witan::agents
