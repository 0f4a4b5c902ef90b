// How a replica uses etcd (replica/ownership/etcd_engine.h), and how often rare things happened to it. Value types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/reflect.h"

namespace witan::node {

struct EtcdOptions {
  std::int64_t ttlMs = 10'000;     // of the lease: how long a silent owner keeps its partitions
  std::int64_t answerMs = 2'000;   // without an answer for so long, a request is made again
  std::size_t copies = 2;          // disks that must hold a batch before etcd forgets it
  std::uint64_t keepBatches = 64;  // that etcd holds in any case
  std::size_t pipeline = 2;        // batches under way for a partition, and shares of the work
  std::size_t transactions = 2;    // that carry batches, under way at a time
  std::size_t leastShare = 32;     // requests; fewer are not worth a transaction of their own
  // Etcd's --max-request-bytes by default, less what a transaction has around a batch.
  std::size_t maxBatchBytes = 1536 * 1024 - 4096;
};

struct EtcdCounters {
  std::uint64_t granted = 0, lost = 0, discarded = 0, askedAgain = 0, foundCommitted = 0, leasesLost = 0;
  std::uint64_t outOfOrder = 0;  // batches that came to etcd before their predecessors
  std::uint64_t tooLarge = 0;    // batches that etcd does not take
  std::uint64_t batchesRead = 0, gaps = 0, trims = 0, connections = 0, compacted = 0;
  WITAN_MEMBERS(EtcdCounters, granted, lost, discarded, askedAgain, foundCommitted, leasesLost, batchesRead, gaps,
                trims, connections, compacted, outOfOrder, tooLarge)
};

}  // namespace witan::node
