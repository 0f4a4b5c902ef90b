// Lineages: the epochs of one partition's log, and where two logs part (KIP-101: "leader epochs").
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/epoch.h"
#include "replica/core/messages.h"

namespace witan::node {

struct EpochHistory {
  std::vector<EpochMark> epochs;  // in order
  std::uint64_t batches = 0;      // of the whole log

  // The last one; number 0 if there is none.
  kernel::Epoch last() const;
  // Under which a batch was written; number 0 before the first.
  kernel::Epoch epochAt(std::uint64_t batch) const;
};

// How many leading batches two logs share, given that nobody forks an epoch of its own. O(epochs).
std::uint64_t commonBatches(const EpochHistory& a, const EpochHistory& b);

// Errors: numbers that do not rise, starts out of order or beyond the log, owners that are no writers.
Status checkEpochHistory(const EpochHistory& lineage);

}  // namespace witan::node
