// EntryReplicator: batches of logs on their way from owners to the other replicas, and acknowledgements back.
//
// A part of Replica; the state, the engine and the exchange outlive it. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "replica/advertisement_exchange.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

class EntryReplicator {
 public:
  EntryReplicator(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership,
                  AdvertisementExchange& exchange)
      : state_(state), ownership_(ownership), exchange_(exchange) {}

  void onEntries(const std::string& from, Peer& peer, const Entries& entries, Now now);
  void onFollowed(Peer& peer, const Followed& followed, Now now);
  // Sends entries and acknowledgements. Requires: durableBatches() of each copy is of this round.
  void push(Now now);
  // No follower lacks a durable batch.
  bool quiet() const;

 private:
  bool hasDiverged(const PartitionHost& host, const Entries& entries) const;
  void pushTo(Peer& peer, PartitionHost& host, FollowerProgress& follower, Now now);

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  AdvertisementExchange& exchange_;
};

}  // namespace witan::node
