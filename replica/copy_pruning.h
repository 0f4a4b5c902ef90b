// CopyPruning: what this device's copies of partitions keep of old entries, where a domain has a retention
// (replica/core/placement.h).
//
// P1  A device prunes no copy of a partition that it owns, is named to own, or decided last, nor one that its agents
//     read, nor one that it refuses or has stopped deciding.
// P2  It prunes a batch only when each device that is to keep every entry has said, by this placement or a later one,
//     that it has all of them on its disk, and was seen to have this batch.
// P3  Who keeps every entry by one placement prunes by a later one alone, and then P2 holds again. So of those that are
//     to keep every entry by the latest placement by which anybody pruned, each has: no entry is nowhere.
// P4  A copy that is to have every entry and was pruned (its device came to own the partition, or others went) gets
//     the batches back from a device that has them. The digests that stand for them say whether they are the same.
//
// A part of Replica; the state, the engine and the exchange outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/ledger/pruned_log.h"
#include "replica/advertisement_exchange.h"
#include "replica/core/questions.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

class CopyPruning {
 public:
  CopyPruning(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership)
      : state_(state), ownership_(ownership) {}

  // Prunes at most one copy, asks for what copies lack, and answers each peer that asks, once. Returns the copies that
  // are to be opened again. O(entries that go, and state). Requires: everything that counts as durable is written, no
  // decision of the round is open. Errors: of the store.
  Result<std::vector<std::string>> round(Now now);
  // Looks with the next round.
  void hurry() { nextMs_ = 0; }
  std::int64_t nextMs() const { return asked_.empty() ? nextMs_ : 0; }
  // No copy waits for old batches.
  bool quiet() const { return fetches_.empty(); }

  void onAsked(const Peer& peer, AskPast asked);
  void onPast(const std::string& from, Peer& peer, const Past& past);

 private:
  // Of a copy that gets back what it pruned.
  struct Fetch {
    std::string from;          // who was asked last
    std::int64_t askedMs = 0;  // 0: nothing is asked
    std::uint64_t next = 0;    // batch; all before it are here again
  };

  void answer(Peer& peer, const AskPast& asked);
  bool keepsAll(const PartitionHost& host) const;
  // Batches that may go, as far as others are concerned.
  std::uint64_t keptElsewhere(const PartitionHost& host);
  // The last of the oldest entries, as many as make it worth it.
  std::uint64_t leastToGo(const PartitionHost& host) const;
  // Whether they are not to be kept.
  bool isDue(PartitionHost& host, const kernel::Retention& keep, Time now) const;
  Result<bool> prune(PartitionHost& host, Now now);
  // Whether everything is here again.
  Result<bool> fetch(PartitionHost& host, Now now);
  // Whether the batch is the one that was pruned.
  Status checkPast(const PartitionHost& host, std::uint64_t number, std::string_view value) const;

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  std::map<std::string, Fetch, std::less<>> fetches_;
  Questions<AskPast> asked_;
  std::map<std::string, std::int64_t, std::less<>> notBeforeMs_;  // by partition: the next look, where nothing could go
  std::int64_t nextMs_ = 0;
};

}  // namespace witan::node
