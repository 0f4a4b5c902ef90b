// EntryReplicator: batches of logs on their way from owners to the other replicas, and acknowledgements back.
//
// A part of Replica; the state, the engine and the exchange outlive it. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replica/advertisement_exchange.h"
#include "replica/core/replica_state.h"
#include "replica/core/request_proofs.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

class EntryReplicator {
 public:
  EntryReplicator(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership,
                  AdvertisementExchange& exchange)
      : state_(state), ownership_(ownership), exchange_(exchange) {}

  void onEntries(const std::string& from, Peer& peer, const Entries& entries, Now now);
  void onFollowed(Peer& peer, const Followed& followed, Now now);
  // Sends acknowledgements, and gathers the entries that leave with this round, whose seals come with its signature.
  // Requires: durableBatches() of each copy is of this round.
  void push(RoundSignature& round, Now now);
  // Sends the entries. Requires: the round is signed.
  void say();
  // No follower lacks a durable batch.
  bool quiet() const;

 private:
  // A batch on its way to a peer, and the seal that it gets from this device.
  struct Leaving {
    Peer* peer;
    Entries entries;
    std::optional<BatchSeal> seal;
  };

  bool hasDiverged(const PartitionHost& host, const Entries& entries) const;
  // Whether a later claim vouches for the batch: it is of the log before that claim's epoch.
  bool vouched(const PartitionHost& host, std::uint64_t batch) const;
  // `sealed`: the seal, if it is asked for. Errors: unavailable, what proves the batch is not here; invalid, it proves
  // nothing.
  Status checkSeal(const PartitionHost& host, const PeerPartition& link, const Entries& entries, BatchSeal& sealed);
  // Of a host that has folded the batch. Errors: unavailable; conflict, the log is another one than claimed.
  Status checkEpochs(const PartitionHost& host, std::uint64_t batch, std::size_t known, const BatchSeal& sealed) const;
  // `offence`: what the error is about. Errors: unauthorised; unavailable, a key is not known yet.
  Status checkProposers(const PartitionHost& host, const kernel::Epoch& epoch, std::string_view batch,
                        Offence& offence);
  EntryEvidence evidenceOf(const PartitionHost& host, const Entries& entries, const Offence& offence) const;
  // Of the entries of an epoch of the log.
  static std::uint16_t formatOf(const PartitionHost& host, const kernel::Epoch& epoch);
  void pushTo(Peer& peer, PartitionHost& host, FollowerProgress& follower, Now now);
  void prove(Leaving& leaving, const PartitionHost& host, const EpochHistory& lineage) const;

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  AdvertisementExchange& exchange_;
  std::vector<Leaving> leaving_;  // of this round
};

}  // namespace witan::node
