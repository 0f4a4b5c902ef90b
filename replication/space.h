// Space: one replicated set of records, the unit of synchronisation. A database (replication/database.h) has one space
// a scope; a device that may not have a scope never learns that its space exists.
//
// A space holds the antichain of the maximal versions of a key, never the result of a merge (docs/FINDINGS.md,
// F1). Its version vector promises: every dot it covers is held here, or was superseded by something held here. All
// rules below keep that promise:
//   local write   takes the writer's next counter and supersedes everything this space holds of the key;
//   arrival       1. a dot that is held: nothing to do (or EQUIVOCATION, if its content differs);
//                 2. the gate: a dot that the vector covers but that is not held was superseded here: dropped;
//                 3. seen by the author of something held: dropped;
//                 4. it replaces the versions that its author had seen, and is held;
//   advance       raises the vector, when a peer has sent all it had (the end of a session's round), never before.
//
// The vector of one writer has no holes: a counter is taken in the same store batch as what it wrote.
//
// Sans-I/O: changes go to memory at once and into the database's pending batch; nothing that rests on them may leave
// the process before that batch is durable. Not thread-safe. The store reader, the fingerprint key, the schemas and the
// batch outlive the space.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "replication/causal_order.h"
#include "replication/record_table.h"
#include "replication/row_seals.h"
#include "replication/vector_clock.h"
#include "store/store.h"

namespace witan::replication {

inline constexpr std::size_t kMaxBodyBytes = 1024 * 1024;
inline constexpr std::size_t kMaxCommitBytes = 1280 * 1024;  // of rows, so that a commit always fits into one frame
inline constexpr std::size_t kMaxCommitWrites = 4096;
// A counter is never further ahead than this: 2^40 commits are a million a second for twelve days.
inline constexpr Seq kMaxSeq = Seq{1} << 48;

// That a body is as its kind wants it. Only recordWrite() (replication/records/record_write.h), which has just checked
// what it encoded, can say so; a commit reads every other body once more.
class BodyCheck {
 public:
  BodyCheck() = default;
  bool done() const { return done_; }

 private:
  friend class CheckedWrites;
  explicit BodyCheck(bool done) : done_(done) {}
  bool done_ = false;
};

struct Write {
  Kind kind{};
  std::string key;   // as validateId wants it; empty for an event, whose key is its dot
  std::string body;  // as the kind says; empty for a tombstone
  bool tombstone = false;
  BodyCheck check = {};
};

// A version from elsewhere. Its writer has been interned by the receiver. Borrows everything for the call.
struct Incoming {
  Kind kind{};
  std::string_view key;
  WriterIndex writer = 0;
  Seq seq = 0;
  bool tombstone = false;
  const Context* context = nullptr;
  std::string_view body;  // or, if base > 0, the fields that changed since that version of the writer's
  Seq base = 0;
  RowProof proof = {};
};

enum class Arrival {
  inserted,
  duplicate,     // held already
  covered,       // superseded here before (the gate)
  dominated,     // by something held
  baseMissing,   // a field delta whose base is not held: send it in full
  equivocation,  // one dot, two contents
  malformed,     // the delta does not fit its base
  keyUnknown,    // sealed by a key that is not known here
  unproven,      // the device of its writer did not write it
};

const char* toString(Arrival arrival);

// Whether the gate stands. Repair opens it: there, what the vector covers may have been lost.
enum class Gate { closed, open };

class Space {
 public:
  // `prefix`: of the space's rows in the store.
  Space(const store::Reader& store, std::string prefix, const FingerprintKey& key, const RecordSchemas& schemas,
        store::WriteBatch& pending);

  // Versions prove who wrote them (replication/row_seals.h). `name`: of the space, in all the cluster. Call first.
  void useSeals(std::shared_ptr<RowKeys> keys, std::string_view cluster, std::string_view name) {
    seals_.use(std::move(keys), cluster, name);
  }
  // Reads everything back. Call once, first. O(records). Errors: corrupt, with the row.
  Status load();

  // --- who writes
  const WriterTable& writers() const { return writers_; }
  // The number of a writer, new or known, kept with the next batch. Errors: too many, not a valid id.
  Result<WriterIndex> intern(std::string_view name);
  // From now on local commits are this writer's: at the start, and for a new incarnation.
  Status become(std::string_view writerName);
  const std::string& selfName() const { return writers_.name(self_); }
  WriterIndex self() const { return self_; }

  // A writer of a retired device, of which no counter above `final` will ever come. Its entry leaves the clocks on the
  // wire once everything up to there has arrived.
  void retire(std::string_view writer, Seq final);
  bool retired(WriterIndex writer) const { return retired_.contains(writer); }

  // --- reading
  const VersionVector& vector() const { return vector_; }
  VectorClock clock() const { return withNames(vector_, writers_); }
  const Digest& digest() const { return table_.digest(); }
  // The versions held of a key, by dot; tombstones among them. Empty: there is none.
  Result<std::vector<Version>> versions(Kind kind, std::string_view key);
  // The keys of a kind that begin with `prefix`, in order. O(records).
  std::vector<std::string> keys(Kind kind, std::string_view prefix = {});
  Result<std::string> bodyOf(const Held& held) const;
  RecordTable& table() { return table_; }
  const RecordSchemas& schemas() const { return schemas_; }
  // Grows with every change to what is held or covered.
  std::uint64_t changes() const { return changes_; }
  // Grows when a version arrives that is older than one of its writer that was here before, even if that one has been
  // superseded since: whoever walks the writers' versions upwards may have passed its place already.
  std::uint64_t outOfOrder() const { return outOfOrder_; }
  // Grows when something held goes and nothing newer stands in its place: in a repair, when one dot had two contents,
  // or a tombstone that everybody has: whoever has not walked over it would not learn what it removed.
  std::uint64_t losses() const { return losses_; }
  // Grows when a repair with some peer may have changed what is held and not the vector: the others compare anew.
  std::uint64_t repairs() const { return repairs_; }
  void repaired() { ++repairs_; }
  // Somebody walks over what is held now: parts of a commit that come later come out of order.
  void walked() { ++walks_; }
  // Whether the vector covers everything held: no peer's round is half received. Only then do digests compare.
  bool settled();

  // --- writing
  // One atomic commit. Its dot is durable with the pending batch. Errors: limits, wrong kind, a body its kind does not
  // read, a key of a non-register kind that exists; nothing is changed then.
  Result<Dot> commit(std::span<const Write> writes);
  Arrival receive(const Incoming& incoming, Gate gate = Gate::closed);
  // After an equivocation: every replica keeps the content with the smaller fingerprint. What gives way here is
  // committed anew. Errors: conflict, that would replace what this writer wrote there: become another one first.
  Status settle(const Incoming& incoming);
  // The vector of a peer that has sent everything it had up to there.
  void advance(const VersionVector& to);
  // A peer's copy is being taken over. `disturbed`: another session brought something that the peer's vector covers, so
  // the peer may have outlived it, and its lists may have been made before it came.
  struct Adoption {
    const void* session = nullptr;
    VersionVector upTo;
    bool disturbed = false;
  };
  // It stays where it is until it ends.
  void beginAdoption(Adoption& adoption) { adoptions_.push_back(&adoption); }
  void endAdoption(Adoption& adoption) { std::erase(adoptions_, &adoption); }
  void brought(const void* session, WriterIndex writer, Seq seq) {
    for (Adoption* one : adoptions_)
      one->disturbed = one->disturbed || (one->session != session && one->upTo.covers(writer, seq));
  }
  // Takes out a version that a peer's vector covers and that the peer does not hold: after a restore, see
  // anti_entropy.h.
  void drop(Held& held);

  // The entries of the vector that changed since the previous local commit with a batch. The batch of the next commit
  // depends on them.
  VectorClock dependencies() const;

  // --- who wrote it
  // Seals what this device wrote and has not sealed yet: before any of it leaves. O(that).
  Status sealOwn();
  bool sealDue() const { return seals_.on() && sealedChanges_ != changes_; }
  const RowSeals& seals() const { return seals_; }
  // Whether the version is its writer's. inserted: nothing is against it.
  Arrival prove(const Incoming& incoming, std::string_view body);
  // As RowSeals::count().
  ProofVerdict count(ArrivingSeal& seal, std::uint32_t leaf, WriterIndex writer, Seq seq) {
    return seals_.count(seal, leaf, writer, seq);
  }
  // Whether a counter is not believed: its writer has not signed that it made so many commits.
  bool unproven(WriterIndex writer, Seq seq) const;
  // Versions that went because their writer turned out to seal its own: each in words, once.
  std::vector<std::string> takeForged() { return std::exchange(forged_, {}); }

  // --- housekeeping
  // Shortens contexts, and drops tombstones, that every active device is known to have. O(unstripped versions). False:
  // there was nothing to do, and there will not be while neither `stable` nor what is held changes.
  bool stabilise(const VersionVector& stable);
  // Forgets a version of a kind outside of the digest (a batch whose wakes are done) once it is stable.
  bool forget(Kind kind, std::string_view key, const VersionVector& stable);
  // Before the pending batch is written: what commit after commit would have put there again and again.
  void completeBatch();
  // Bodies that were kept until their batch was durable.
  void flushed();

  // Notification batches that became deliverable since the last call; consumed(clock) makes that durable.
  Result<std::vector<BatchEvent>> takeEvents();
  void consumed(const VersionVector& upTo);
  // Keys of contested kinds (plans) of which several versions are held: those that became so since the last call, all
  // of them after load(). Devices that were cut off have planned one run twice (docs/FINDINGS.md, F3).
  std::set<std::string> takeContested() { return std::exchange(contested_, {}); }
  const VersionVector& delivered() const { return delivered_; }

  // Every promise above, recomputed from nothing: for tests and the simulator. O(everything).
  Status checkIntegrity();

 private:
  struct Draft;

  Status loadWriters();
  Status loadRecord(std::string_view key, std::string_view value);
  Status checkWrites(std::span<const Write> writes);
  Status checkWrite(const Write& write);
  std::size_t rowBytes(const Write& write);
  Arrival again(Held& held, const Incoming& in, Gate gate);
  Status reissue(const Held& lost, Kind kind, const std::string& key);
  Context seenOf(const Record& record) const;
  // Adds a version that belongs here and takes out what its author had seen.
  Held& hold(Record& record, std::unique_ptr<Held> held);
  void noteReached(WriterIndex writer, Seq seq);
  void noteFields(const Record& record, Held& held) const;
  void proven(const Incoming& in, Held& held);
  Result<Hash> leafOf(const Held& held, Seq first) const;
  Status sealWriter(WriterIndex writer);
  Uint128 fingerprintOf(const Record& record, const Held& held, std::string_view body) const;
  std::string rowKey(const Held& held) const;
  void putRow(const Held& held, std::string_view body);
  void putVector(char row, const VersionVector& vector);
  void noLongerFresh(Held& held);
  void eraseVersion(Held& held);

  const store::Reader& store_;
  const std::string prefix_;
  const FingerprintKey& key_;
  const RecordSchemas& schemas_;
  store::WriteBatch& pending_;
  RecordTable table_;
  WriterTable writers_;
  RowSeals seals_;
  std::vector<Seq> sealedUpTo_;  // by writer of this device
  std::uint64_t sealedChanges_ = ~std::uint64_t{0};
  std::vector<std::string> forged_;
  std::vector<std::uint64_t> writerHashes_;
  WriterIndex self_ = 0;
  bool named_ = false;  // become() was called
  std::set<WriterIndex> retired_;
  VersionVector vector_, delivered_;
  VersionVector atLastBatch_;
  std::set<std::string> contested_;
  std::vector<Adoption*> adoptions_;
  std::map<std::pair<WriterIndex, Seq>, Kind> undelivered_;  // events held whose delivery is still to come
  std::vector<Held*> fresh_;   // whose bodies are kept until they are durable (Held::fresh)
  bool vectorBehind_ = false;  // the pending batch has not its row
  std::uint64_t changes_ = 0, outOfOrder_ = 0, losses_ = 0, repairs_ = 0;
  VersionVector reached_;                 // the highest counters that were ever held
  std::vector<std::uint64_t> reachedIn_;  // after how many walks
  std::uint64_t walks_ = 1;
  mutable std::string scratch_;
};

}  // namespace witan::replication
