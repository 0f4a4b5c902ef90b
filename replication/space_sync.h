// SpaceSync: one space in one session, both directions. It makes the rows of segments for a peer and applies the rows
// of the peer's segments (replication/sync.capnp). SyncSession owns it and does frames, windows and acknowledgements.
//
// Sending. `known` is what the peer's vector covers by its own word or by our commits; `sent` what has gone out since.
// A segment carries what is held above both, writer by writer in the order of names, counters ascending. When nothing
// is left the segment commits: the space's vector as it is at that moment. Whatever is written meanwhile just comes
// later in the walk, so there is no gap between catching up and following, no queue, and a slow peer costs no memory:
// what was overwritten before its turn is never sent.
//
// The four rules without which replicas diverge (seed findings; each has a failing twin in the tests):
//   1. the receiver's vector rises at a commit only;       2. the walk goes by the writer's counter, not by arrival;
//   3. the gate in Space::receive;                         4. contexts are shortened only when stable
//   (Space::stabilise).
//
// The space outlives it. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replication/space.h"
#include "replication/stability.h"
#include "replication/sync_messages.h"

namespace witan::replication {

// The numbers by which one side names the writers in its rows.
class WriterNumbers {
 public:
  // The sender's side: the number of a writer; `fresh` when it must be announced by a row first.
  std::uint64_t numberOf(WriterIndex writer, bool& fresh);
  // The receiver's side. Requires: number < size().
  WriterIndex writerOf(std::uint64_t number) const { return writers_[number]; }
  void add(WriterIndex writer);
  bool has(WriterIndex writer) const { return writer < numbers_.size() && numbers_[writer].has_value(); }
  std::size_t size() const { return writers_.size(); }
  void clear() { writers_.clear(), numbers_.clear(); }

 private:
  std::vector<WriterIndex> writers_;                   // by number
  std::vector<std::optional<std::uint64_t>> numbers_;  // by writer
};

// One byte for a key, in one session and direction: the sender gives it when the second update of that key leaves.
struct KeyAlias {
  Kind kind{};
  std::string key;
  bool given = false;  // to the peer
};
using KeyAliases = std::map<std::uint8_t, KeyAlias>;

// What a device acknowledged, and others just so.
struct DeviceAcks {
  std::string device;
  std::vector<WriterIndex> alike;  // the others, as writers of theirs
  VersionVector clock;
};

// The result of applying rows.
struct Applied {
  bool committed = false;  // the vector may have risen
  bool fresh = false;      // it has, or does once the commit counts (SpaceSync::unchecked)
  bool repeated = false;   // there were versions, and all of it was here
  bool retry = false;      // send a Retry
  // Equivocations, for the operator: the device that wrote under the dot, and what it is.
  std::vector<std::pair<std::string, std::string>> incidents;
  std::vector<std::string> forged;     // Space::takeForged
  std::optional<VersionVector> clock;  // a commit row where it means "my vector" (WRITERS, ACK, RETRY, LIST)
  std::vector<DeviceAcks> deviceAcks;  // ACKS
  std::size_t entriesAcked = 0;        // in rows of tag 10, of each device
};

// A peer said something that no honest peer says; `lie` when it is about counters.
struct Violation {
  std::string what;
  bool lie = false;
  std::string kind = {};  // of an incident of its own
};

class SpaceSync {
 public:
  // `ownClaim` is asked before anything is believed that shows more commits of this device's own writer than it made.
  // `newWriter` makes this device go on as another writer; `taken`: someone else used a dot of its present one.
  SpaceSync(Space& space, DatabaseName database, std::function<Status(const VersionVector& claimed)> ownClaim,
            std::function<Status(const std::string& why, bool taken)> newWriter)
      : space_(space), database_(database), ownClaim_(std::move(ownClaim)), newWriter_(std::move(newWriter)) {}

  Space& space() { return space_; }
  // The cluster's space goes to everybody: nothing else may enter it.
  void acceptStatementsOnly() { statementsOnly_ = true; }
  // A sealed scope (replication/sealed_scope.h): only devices with the scope's key write into it. `copiesOnly`: whether
  // a device has none.
  void acceptSealedOnly(std::function<bool(std::string_view device)> copiesOnly) {
    sealedOnly_ = true, copiesOnly_ = std::move(copiesOnly);
  }

  // Both ends of the session know LIVE, and what came with it. Without, no alias is written and none is taken.
  void useAliases() { aliases_ = true; }

  // --- agreeing on writers and vectors
  // The live writers as they are now, for SPACES: their names' hash, and their counters in that order.
  struct Summary {
    std::uint64_t writersHash = 0;
    std::string vector;
  };
  Summary summarise(const FingerprintKey& key);
  // Both sides have the same writers: numbers and the peer's vector follow from HELLO alone.
  Status agree(std::string_view positional);
  // They have not: everything by name.
  std::string writersRows();
  Status acceptWriters(std::string_view rows);
  bool agreed() const { return agreed_; }
  // Without a peer: what follows is for whoever has all of this, and nothing more.
  void begin(const VersionVector& known) { known_ = sent_ = known, agreed_ = full_ = true; }

  // --- sending
  // Appends rows, up to about `budget` bytes, at least one commit's worth. False: there is nothing to send.
  // `resume` is then the token for a break after this segment, empty after a commit. Errors: the store's.
  Result<bool> nextRows(std::string& rows, std::string& resume, std::size_t budget);
  std::uint16_t attempt() const { return attempt_; }
  // The peer handed back a token of an earlier session. Ignored if it is not of this space's present life.
  void resume(std::string_view token);
  // The peer could not use a delta: all over again from its vector, in full.
  Status restart(std::string_view rows, std::uint16_t attempt);
  // The peer's durable vector, from an ACK. Errors: it shows what cannot be.
  Status peerHas(const VersionVector& vector);
  // The peer's durable vector, by its own word.
  const VersionVector& peerClock() const { return peerClock_; }
  // The space's vector as rows, entries that changed since `since` only.
  std::string clockRows(const VersionVector& since, const VersionVector& now);
  std::string wholeClock();
  // The known vectors of third devices, for ACKS; `alike`: equal ones once. O(devices log devices * entries).
  std::string ackRows(const AckTable::Devices& devices, bool alike);
  // The same in about `budget` bytes, to a peer that knows LIVE: what was forgotten, what most devices have, then
  // others, from behind `after` on, where the last call ended; empty: at the first, and at the last. `all`: there was
  // room for the names of all these.
  std::string ackGroups(const AckTable::Devices& devices, std::size_t budget, std::string& after, bool& all);
  // As withNames(), for a vector of few entries among many writers.
  VectorClock named(const VersionVector& vector) const;
  // One version in full, with the writers' rows it needs. putSeals() before the frame ends.
  Status versionRows(std::string& rows, const Held& held);
  // Puts the seals of the frame's versions before them.
  void putSeals(std::string& rows);

  // --- receiving
  // Applies the rows of a segment (or, with the gate open, of ITEMS) in order. `before`: hears of each version that is
  // about to be taken.
  using Before = std::function<void(const Incoming&)>;
  Result<Applied> apply(std::string_view rows, std::uint16_t attempt, Gate gate, const Before& before = {});
  // What members have forgotten, as far as the peer or this device knows. A commit that takes this copy over some of it
  // does not count, nor do those behind it, until the copy was compared with the peer's (RepairMode::adopt): it may
  // come from a store that went back in time.
  void noteForgotten(const VersionVector& versions) { forgotten_.join(versions); }
  const VersionVector& unchecked() const { return unchecked_; }
  // Until told otherwise events that come in a repair stand, whatever is here under their dots: the peer's copy counts.
  void adoptEvents(bool adopt) { adoptEvents_ = adopt; }
  // The commits up to there count.
  void checked(const VersionVector& upTo);
  // Rows that only say a vector.
  Result<Applied> readClockRows(std::string_view rows);
  std::uint16_t expectedAttempt() const { return expected_; }
  const std::optional<Violation>& violation() const { return violation_; }
  // Whether everything held has gone out and been committed to the peer.
  bool allSent() const { return agreed_ && space_.changes() == sentChanges_; }

 private:
  void appendVersion(std::string& rows, const Held& held, std::string_view body, bool allowDelta);
  void shortenKey(std::string& rows, const Record& record);
  std::uint64_t announce(std::string& rows, WriterIndex writer);
  Result<bool> walk(std::string& rows, std::size_t budget);
  std::string token() const;
  bool appendCounts(std::string& rows);
  std::uint64_t sealNumber(const RowSeal& seal, std::uint32_t leaf);
  void appendProof(const Held& held);
  std::optional<WriterIndex> writerOfDevice(const std::string& device) const;
  Status applyWriter(DenseReader& from);
  Status applyAlias(DenseReader& from);
  Status readRow(RowTag tag, DenseReader& from);
  bool appendAckGroup(std::string& rows, std::string& acks, const VectorClock& clock,
                      const std::vector<std::string_view>& devices, std::size_t budget);
  Status readAlike(DenseReader& from, Applied& applied);
  Status readAcks(DenseReader& from, Applied& applied);
  Status applySeal(DenseReader& from);
  Status applyCount(DenseReader& from);
  Result<RowProof> proofOfRow();
  Status refuseRow(Arrival arrival, WriterIndex writer);
  Status refuse(bool keyUnknown, WriterIndex writer, const std::string& what, bool sealed);
  Status settle(const Incoming& incoming, Applied& applied);
  Status applyVersion(RowTag tag, DenseReader& from, Gate gate, const Before& before, Applied& applied);
  Result<VersionVector> readVector(DenseReader& from);
  Status checkClaim(const VersionVector& claim);
  bool takesOver(const VersionVector& clock) const;
  Status checkRow(const std::string& writer) const;
  Status checkSealedRow(const std::string& writer);
  Status checkSeen(WriterIndex writer);
  Status checkCounter(WriterIndex writer, Seq seq);
  Status checkProven(const VersionVector& clock);

  Space& space_;
  const DatabaseName database_;
  const std::function<Status(const VersionVector&)> ownClaim_;
  const std::function<Status(const std::string&, bool)> newWriter_;
  std::vector<WriterIndex> summarised_;
  WriterNumbers out_, in_;
  KeyAliases outAliases_, inAliases_;
  bool agreed_ = false, statementsOnly_ = false, sealedOnly_ = false, aliases_ = false, adoptEvents_ = false;
  std::function<bool(std::string_view)> copiesOnly_;
  VersionVector known_, sent_, peerClock_, forgotten_, unchecked_;
  VersionVector told_;                             // the counters that were proven to the peer
  std::uint64_t sentChanges_ = ~std::uint64_t{0};  // of the space, when nothing was left to send
  std::uint64_t seenOutOfOrder_ = 0;
  bool full_ = false;  // no deltas until the next commit
  std::uint16_t attempt_ = 0, expected_ = 0;
  bool broken_ = false;
  std::optional<Violation> violation_;
  struct SentSeal {
    const RowSeal* seal = nullptr;
    std::vector<std::uint32_t> leaves;
  };
  std::vector<SentSeal> sentSeals_;         // of the frame that is made
  std::size_t sealBytes_ = 0;               // about
  std::deque<ArrivingSeal> arrivingSeals_;  // of the frame that is read
  VersionRow row_;                          // reused, as the next two
  Context context_;
  std::vector<WriterIndex> seen_;
};

}  // namespace witan::replication
