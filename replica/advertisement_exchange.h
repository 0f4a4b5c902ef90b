// AdvertisementExchange: who owns which partition and how far each copy is, told to peers and learned from them.
//
// It keeps the table of owners, decides which peers this device follows, and compares logs. It reports forks and
// rollbacks, which end this device's decisions; a divergent suffix is kept aside, reported and truncated. A part of
// Replica; the state and the engine outlive it. Not thread-safe.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

inline constexpr std::size_t kMaxClaims = 4 * kMaxPartitions;  // in one standing, those that prove others among them

class AdvertisementExchange final : public EpochListener {
 public:
  // The engine is made after it, and before the first call.
  AdvertisementExchange(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership)
      : state_(state), ownership_(ownership) {}

  // ---- EpochListener
  bool learn(const OwnershipRecord& claim) override;
  void announce(const OwnershipRecord& claim, std::string_view from = {}) override;
  void tellAll(PartitionHost& host) override;

  // Tells a new member of every owner and position.
  void greet(Peer& peer);
  // Tells every peer how to find that it lacks a claim, or this device: one may have been lost with a frame.
  void compareClaims();
  // A claim that nothing proved may be proven by another roster.
  void retryClaims();
  // Tells every peer that this device has no copy any more.
  void onReleased(const std::string& partition);
  // Asks a peer how much of this log it has.
  void askForAll(Peer& peer, PartitionHost& host);
  // Tells a peer the position of a copy, and whether this device wants entries.
  void tell(Peer& peer, PartitionHost& host, bool follow);
  void onAdvertisement(const std::string& from, Peer& peer, PeerAdvertisement standing, Now now);
  // Asks the right peers for entries, and no others, if something has changed.
  void refreshFollowing();
  // The claims of sendNews(), which must come before entries of their epochs.
  void sendClaims();
  // Moves what is to be told into the frames of each peer.
  void sendNews();
  // A copy was opened again: what was to be told of it does not hold any more.
  void onReopened(const std::string& partition);
  // A copy has the log that it had, and other old entries of it.
  void onPruned(PartitionHost& host);

  // ---- logs that differ
  // Two logs of one epoch: its owner came back with an older disk and decided again before it met its followers.
  // Neither is right, so no device follows, and the owner decides nothing more; an operator seizes the partition where
  // the log is that is to stand, and its next epoch ends the other one.
  void onFork(const std::string& from, const PartitionHost& host, FollowerProgress& follower);
  // This device's disk rolled back: a peer has more batches of this device's own epoch.
  void onRolledBack(const std::string& from, const PartitionHost& host, std::uint64_t theirBatches);
  // Likewise: a peer has an epoch that this device began, and this disk had not. It decided more in it than what has
  // come so far. `out`: what the batch that came is written with.
  void onOwnEpochFrom(const std::string& from, const PartitionHost& host, store::WriteBatch& out);
  // This log has entries of an epoch that is over, beyond `keep` batches: they are kept aside and reported. The copy
  // must be opened again afterwards. What fails is reported.
  void truncate(const std::string& from, PartitionHost& host, std::uint64_t keep);

  // Devices with another engine (Replica::otherEngines).
  const std::map<std::string, std::string, std::less<>>& otherEngines() const { return otherEngines_; }

 private:
  bool believes(const std::string& from, const OwnershipRecord& claim);
  void tellClaims(Peer& peer) const;
  // With the claims that prove it.
  void tellClaim(Peer& peer, const OwnershipRecord& claim) const;
  // How much of this log stands by the latest claim; `common`: by what the peer says. None: a claim in between is not
  // known.
  std::optional<std::uint64_t> partingPoint(const PartitionHost& host, std::uint64_t common) const;
  // Whether a position bears this device's own seal of the log that it tells of.
  bool sealedHere(const PartitionHost& host, const LogPosition& position);
  void accuse(const std::string& from, PeerPartition& link, const PartitionHost& host);
  std::string engine() const;
  void noteRules(const std::string& from, std::string_view theirs, Now now);
  bool otherRules(const std::string& from, std::string_view domain) const;
  bool fitsEngine(const std::string& from, Peer& peer, const PeerAdvertisement& standing, Now now);
  void onPosition(const std::string& from, Peer& peer, const LogPosition& position, Now now);
  static void noteKept(PeerPartition& link, const PartitionHost& host, const LogPosition& position);
  void onDiverged(const std::string& from, Peer& peer, PartitionHost& host, const LogPosition& position,
                  const Divergence& divergence);
  void noteRollback(const std::string& from, const PartitionHost& host, const std::string& what,
                    store::WriteBatch& out);
  void stopDeciding(const PartitionHost& host, store::WriteBatch& out);
  bool wants(std::string_view from, const PartitionHost& host) const;
  LogPosition& newsOf(Peer& peer, const std::string& partition);
  void tellProbes(Peer& peer, PartitionHost& host, std::uint64_t low, std::uint64_t high);

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  std::map<std::string, std::string, std::less<>> otherEngines_;
  // By device and domain, whose rule file both have. Of one that differs nothing is followed, either way.
  struct RuleFile {
    std::optional<Now> differsSince;
    bool told = false;
  };
  std::map<std::string, std::map<std::string, RuleFile, std::less<>>, std::less<>> ruleFiles_;
  std::map<std::pair<std::string, std::string>, OwnershipRecord> unproven_;  // by partition and owner
};

}  // namespace witan::node
