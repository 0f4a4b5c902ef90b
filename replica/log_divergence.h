// LogDivergence: what happens when a peer's log of a partition and this one differ. Forks and rollbacks are reported
// and end this device's decisions; a divergent suffix is kept aside, reported and truncated.
//
// A part of Replica; the state outlives it. Not thread-safe.
#pragma once

#include <string>

#include "replica/core/replica_state.h"

namespace witan::node {

class LogDivergence {
 public:
  explicit LogDivergence(ReplicaState& state) : state_(state) {}

  // Two logs of one epoch: its owner came back with an older disk and decided again before it met its followers.
  // Neither is right, so no device follows, and the owner decides nothing more; an operator seizes the partition where
  // the log is that is to stand, and its next epoch ends the other one.
  void onFork(const std::string& from, const PartitionHost& host, FollowerProgress& follower);
  // This device's disk rolled back: a peer has more batches of this device's own epoch.
  void onRolledBack(const std::string& from, const PartitionHost& host, std::uint64_t theirBatches);
  // This log has entries of an epoch that is over, beyond `keep` batches: they are kept aside and reported. The copy
  // must be opened again afterwards. What fails is reported.
  void truncate(const std::string& from, PartitionHost& host, std::uint64_t keep);

 private:
  void stopDeciding(const PartitionHost& host);

  ReplicaState& state_;
};

}  // namespace witan::node
