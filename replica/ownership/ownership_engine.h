// OwnershipEngine: how partitions get their owners, and how an owner's decisions become durable.
//
//   EmbeddedOwnership  The log of a partition names its owner. Operators move partitions; decisions are durable here.
//   EtcdOwnership      etcd names the owners and holds the tail of each log; decisions are durable there.
//
// The replica asks owns() before each decision, and drives the engine in each round: stage(), then finishRound(). The
// engine works on the shared state and reports epochs through EpochListener; both outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "replica/core/owner_table.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/etcd_messages.h"

namespace witan::node {

// Copies that can wait for their sync wait no longer than this.
inline constexpr std::int64_t kCopySyncMs = 10;

// Tells peers about epochs and positions.
class EpochListener {
 public:
  virtual ~EpochListener() = default;
  // Keeps a claim. Whether it is news.
  virtual bool learn(const OwnershipRecord& claim) = 0;
  // The same, and sends news to all peers but `from`.
  virtual void announce(const OwnershipRecord& claim, std::string_view from = {}) = 0;
  // Sends the position of a copy to every peer.
  virtual void tellAll(PartitionHost& host) = 0;
};

class OwnershipEngine {
 public:
  OwnershipEngine(ReplicaState& state, EpochListener& listener) : state_(state), listener_(listener) {}
  virtual ~OwnershipEngine() = default;
  OwnershipEngine(const OwnershipEngine&) = delete;
  OwnershipEngine& operator=(const OwnershipEngine&) = delete;

  // As in [ledger] of witan.toml; empty: this device keeps no ledgers.
  virtual std::string_view name() const = 0;
  // Which etcd names the owners; 0: not known, or none does.
  virtual std::uint64_t clusterId() const { return 0; }

  // ---- ownership
  // Whether this device decides for a partition now.
  bool owns(const PartitionHost& host) const;
  OwnerState ownerState(std::string_view partition) const;
  // Whether the owner's disk may be the only one that has the end of the log.
  virtual bool ownerHoldsLog() const = 0;
  // Whether entries of a partition are to come from peers.
  virtual bool needsPeers(std::string_view partition) const = 0;
  // Epochs of the log, from the n-th on, are new to this device.
  virtual void onEpochs(PartitionHost& host, std::size_t first) = 0;
  // The log has grown by a peer's entries, or was just opened.
  virtual void onFollowed(PartitionHost& host, Now now) = 0;
  // Copies were opened again.
  virtual void onReopened(Now) {}

  // ---- decisions
  // Ok: the engine takes an entry of this request, so far as its size shows.
  virtual Status checkSize(const Request& request) const = 0;
  // Decides a request, or queues it until finishRound(). False: not now. Requires: owns().
  virtual bool decide(PartitionHost& host, const Request& request, const std::string& from, Now now) = 0;
  // Whether decide() decides at once, so that the answer is durable with this round.
  virtual bool decidesAtOnce() const = 0;
  // Rejects pending proposals whose time is up, unless decide() does.
  virtual void expirePending(Now) {}

  // ---- the round
  // Moves what was decided at once into the round's writes.
  virtual void stage() = 0;
  // How long a copy may wait for its sync.
  virtual std::int64_t syncWaitMs() const = 0;
  struct Round {
    std::vector<PartitionHost::Release> releases;  // answers to requests that are not decided here
    std::vector<EtcdRequest> requests;
  };
  // Decides what is queued. Requires: what was committed is written.
  virtual void decideQueued(Now) {}
  virtual Round finishRound(Now) { return {}; }
  virtual void tick(Now) {}
  virtual std::int64_t nextTickMs() const { return std::numeric_limits<std::int64_t>::max(); }
  virtual bool quiet() const { return true; }

  // ---- the connection to etcd
  virtual void connected(Now, std::uint64_t /*cluster*/) {}
  virtual void disconnected() {}
  virtual void received(const EtcdAnswer&, Now) {}

  // ---- operators (contracts: replica/replica.h)
  virtual Status bootstrap(Now now, const std::function<bool(std::string_view partition)>& which) = 0;
  virtual Status transferOwnership(std::string_view partition, std::string_view to, std::string_view reason,
                                   Now now) = 0;
  // Errors besides: `conflict` for so long at most, while a peer has not yet said what it has.
  static constexpr std::int64_t kHearMs = 10'000;
  virtual Status forceTakeover(std::string_view partition, std::string_view reason, Now now) = 0;

 protected:
  static Status operatorsDoNotDecide();
  // Whether the engine lets this device decide in an epoch of its own.
  virtual bool serves(std::string_view partition) const = 0;

  ReplicaState& state_;
  EpochListener& listener_;
};

}  // namespace witan::node
