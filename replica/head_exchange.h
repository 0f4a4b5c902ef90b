// HeadExchange: signed heads of the logs of a cluster. The owner of a partition signs the head of its log soon after
// entries came; each device that holds the same entries cosigns it; everybody compares.
//
//   A head that says something else than this device's copy is refused and reported (incident `headDiffers`).
//   Two heads of one log that contradict each other prove that its owner lied or that its disk went back
//   (`forkProven`): the proof is kept, told to all, and ends what this device takes of that log. What this device
//   signed last stands outside of its stores. It signs nothing that does not extend that, and decides nothing on a log
//   that went back behind it (`wentBack`). If that is lost with the disk, it is what others show of its signatures.
//
// A part of Replica; the state and the engine outlive it. Does nothing without ReplicaConfig::heads. Not thread-safe.
// Rows of the ledgers' store: "k/" + partition -> heads; "v/" + origin -> proof.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replica/core/log_head.h"
#include "replica/core/replica_state.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

inline constexpr std::int64_t kSignHeadMs = 500;  // after the first entry that no head covers
inline constexpr std::uint64_t kSignHeadEntries = 8'192;
inline constexpr std::size_t kMaxHeadBytes = 32 * 1024;
inline constexpr std::size_t kMaxForkProofs = 1'024;  // that are kept; with other evidence, told in one message
// Of one device, but for those of the epochs in which logs here are: who signs more of them erases no other's.
inline constexpr std::size_t kMaxForkProofsOfOne = 16;

class HeadExchange {
 public:
  // What is known of a partition's heads.
  struct Heads {
    std::optional<LogHead> latest;     // that agrees with this device's copy, or is its own
    std::optional<LogHead> witnessed;  // the newest that a device other than its owner has cosigned
  };

  HeadExchange(ReplicaState& state, const std::unique_ptr<OwnershipEngine>& ownership)
      : state_(state), ownership_(ownership) {}

  // Requires: the copies are open. Errors: the memory or a row is damaged.
  Status open();
  // Everything: the peer knows nothing yet.
  void greet(Peer& peer) const;
  void received(const std::string& from, Peer& peer, const std::vector<std::string>& heads,
                const std::vector<std::string>& proofs, Now now);
  // Signs and cosigns what is due. Requires: durableBatches() of each copy is of this round.
  void round(Now now);
  std::int64_t nextMs() const { return nextMs_; }
  // This device stops: the next round signs whatever no head covers.
  void hurry() { hurry_ = true; }
  // The copy was opened again. `longer`: with all that it had; then a head that waits for its entries goes on waiting.
  void onReopened(const std::string& partition, bool longer = false);
  // The copy contradicts what this device signed: it decides nothing there until it is seized. Incident wentBack.
  void stopDeciding(const PartitionHost& host, std::string_view why);

  // Null: none is known.
  const Heads* find(std::string_view partition) const;
  // What this device signed last of the log, if the copy here does not begin with that: it was cut, lost or altered.
  // O(entries of the copy).
  std::optional<HeadMemory::Signed> contradicted(const PartitionHost& host) const;
  // A head of a log, with or without a copy here. None: its owner's signature is of no key that is known.
  Result<std::optional<LogHead>> opened(std::string_view note) const;
  // Of its owner and of its cosigners, all that they have had.
  std::vector<std::string> verifierKeysOf(const LogHead& head) const;
  // By origin.
  const std::map<std::string, std::string, std::less<>>& proofs() const { return proofs_; }

 private:
  struct Log : Heads {
    std::optional<LogHead> ahead;  // covers entries that have not come yet
    std::optional<LogHead> odd;    // says something else than this copy; no proof yet
    std::uint64_t entries = 0, epochs = 0;
    std::int64_t changedMs = -1;   // since when entries wait for a head; -1: none do
    std::int64_t searchedMs = -1;  // when the whole log was last read for an old head
    std::optional<bool> extends;   // the remembered head; none: not known since the copy was opened
    bool cosign = false;           // `latest` is to be cosigned
  };
  struct Due {
    PartitionHost* host;
    Log* log;
    LogHead head;  // without the new signature
    bool own;
  };
  enum class Agreement { agrees, differs, unknown };

  Status load();
  bool signedHere(const LogHead& head) const;
  Status checkUnsigned() const;
  void checkMemory(PartitionHost& host, Log& log);
  bool extendsRemembered(const PartitionHost& host, Log& log) const;
  void look(PartitionHost& host, Log& log, Now now, std::vector<Due>& due);
  std::optional<LogHead> headOf(const PartitionHost& host) const;
  // Both: false if that cannot be made durable.
  bool remember(HeadMemory next);
  bool recall(const std::string& partition, const Log& log);
  Status onHead(const std::string& from, std::string_view note, Now now);
  Agreement compare(const PartitionHost& host, Log& log, const LogHead& head, bool search, Now now) const;
  void take(const PartitionHost& host, Log& log, LogHead head, Agreement agreement);
  void adopt(const PartitionHost& host, Log& log, LogHead head);
  // Keeps the first head of the epoch in which the owner names a later version of a rule file, which this device has.
  void noteRules(const PartitionHost& host, const LogHead& head) const;
  void onDifference(const PartitionHost& host, Log& log, LogHead head);
  void prove(const PartitionHost& host, const LogHead& one, const LogHead& other);
  Status onEvidence(std::string_view text);
  Status onProof(std::string_view text);
  void completeEvidence();
  void save(const std::string& partition, const Log& log);
  void tell(const std::string& note) const;

  ReplicaState& state_;
  const std::unique_ptr<OwnershipEngine>& ownership_;
  HeadMemory memory_;
  std::map<std::string, Log, std::less<>> logs_;
  std::map<std::string, std::string, std::less<>> proofs_;
  std::int64_t nextMs_ = std::numeric_limits<std::int64_t>::max();
  bool memoryFails_ = false, hurry_ = false;
  bool beat_ = false;  // some head is due in this round
};

}  // namespace witan::node
