// CopyRelease: copies that this device has and need not keep, since the placement names others: it gives each up once
// all of these have everything that is in it, on their disks, and keep it.
//
// R1  A device gives up no copy of a partition that it owns, is named to own, decided last, or refuses.
// R2  It does so only when each keeper that its placement names has said, by this placement or a later one, that it
//     keeps a copy, and was seen to have every batch that is in this one. Before that it takes nothing more.
// R3  Who keeps a copy by one placement gives it up by a later one alone, and then R2 holds again. So of those that
//     keep it by the latest placement by which anybody gave it up, none has: the log is never nowhere.
//
// A part of Replica; the state, the engine and the exchange outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "replica/advertisement_exchange.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

// Whether this device owns the partition, is named to own it, or decided last: its copy is no copy among others.
bool isOwners(const ReplicaState& state, const OwnershipEngine& ownership, const PartitionHost& host);

class CopyRelease {
 public:
  CopyRelease(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership, AdvertisementExchange& exchange)
      : state_(state), ownership_(ownership), exchange_(exchange) {}

  // Gives at most one copy up. Requires: everything that counts as durable is written, no decision of the round is
  // open.
  Status round(Now now);
  // Looks with the next round.
  void hurry() { nextMs_ = 0; }
  std::int64_t nextMs() const { return nextMs_; }
  // Whether this device has a copy that it need not keep.
  bool isSurplus(const PartitionHost& host) const;
  // No copy waits to be given up.
  bool quiet() const;

 private:
  // Whether all keepers follow closely enough to stop here, and whether they have everything.
  struct Seen {
    bool near = true, all = true;
  };
  Seen see(const PartitionHost& host) const;
  void ask(PartitionHost& host) const;

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  AdvertisementExchange& exchange_;
  std::int64_t nextMs_ = 0;  // at once after a start: what was surplus before is so still
};

}  // namespace witan::node
