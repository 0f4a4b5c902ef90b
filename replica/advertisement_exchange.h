// AdvertisementExchange: who owns which partition and how far each copy is, told to peers and learned from them.
//
// It keeps the table of owners, decides which peers this device follows, and compares logs. A position that shows a
// divergence goes to LogDivergence, or the copy is marked for truncation. A part of Replica; the state and the engine
// outlive it. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "replica/core/replica_state.h"
#include "replica/log_divergence.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

class AdvertisementExchange final : public EpochListener {
 public:
  // The engine is made after it, and before the first call.
  AdvertisementExchange(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership,
                        LogDivergence& divergence)
      : state_(state), ownership_(ownership), divergence_(divergence) {}

  // ---- EpochListener
  bool learn(const OwnershipRecord& claim) override;
  void announce(const OwnershipRecord& claim, std::string_view from = {}) override;
  void tellAll(PartitionHost& host) override;

  // Tells a new member of every owner and position.
  void greet(Peer& peer);
  // Tells a peer the position of a copy, and whether this device wants entries.
  void tell(Peer& peer, PartitionHost& host, bool follow);
  void onAdvertisement(const std::string& from, Peer& peer, PeerAdvertisement standing, Now now);
  // Asks the right peers for entries, and no others, if something has changed.
  void refreshFollowing();
  // Moves what is to be told into the frames of each peer.
  void sendNews();
  // A copy was opened again: what was to be told of it does not hold any more.
  void onReopened(const std::string& partition);

  // Devices with another engine (Replica::otherEngines).
  const std::map<std::string, std::string, std::less<>>& otherEngines() const { return otherEngines_; }

 private:
  bool fitsEngine(const std::string& from, Peer& peer, const PeerAdvertisement& standing);
  void onPosition(const std::string& from, Peer& peer, const LogPosition& position, Now now);
  void onDiverged(const std::string& from, Peer& peer, PartitionHost& host, const LogPosition& position,
                  const Divergence& divergence);
  bool wants(std::string_view from, const PartitionHost& host) const;
  LogPosition& newsOf(Peer& peer, const std::string& partition);
  void tellProbes(Peer& peer, PartitionHost& host, std::uint64_t low, std::uint64_t high);

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  LogDivergence& divergence_;
  std::map<std::string, std::string, std::less<>> otherEngines_;
};

}  // namespace witan::node
