// Partition: the meta-agents of a set of entities, and the ledger that their decisions make (seed 000, A.1.9-A.1.12,
// A.3).
//
// A plain class: an event and its time in, a decision and log bytes out. It reads no clock, does no I/O, starts no
// thread; node/ and sim/ drive the same object. One strand at a time. The module and the EntrySource outlive it.
//
// Durability is an effect: decisions collect in an open batch; takeBatch() hands it over to be written and synced, and
// nothing decided in it may be told to anyone before that succeeded.
//
// Invariants, checked in checkInvariants():
//   P1 sequence numbers are 1, 2, 3, ... and the tree has as many leaves as the partition has entries;
//   P2 an entity has at most one pending proposal (Lemma A.65), which carries its escalation entry's number;
//   P3 a pending proposal's entity changes only by the counselor's decision on it; where the domain freezes by key,
//   what
//      that proposal touches does (kernel/domain_module.h, Touch).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/decision_check.h"
#include "kernel/domain_module.h"
#include "kernel/epoch.h"
#include "kernel/record/entry.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "kernel/run_bindings.h"
#include "store/store.h"

namespace witan::kernel {

// Entries that left the open batch, by number; needed to answer repeated operation ids.
class EntrySource {
 public:
  virtual ~EntrySource() = default;
  virtual Result<std::string> entryBytes(std::uint64_t seq) = 0;
};

struct PartitionOptions {
  // A proposal that escalates from now on and waits longer is rejected by the system counselor (F17); 0: never. Its
  // entry says when, which binds whoever opens the ledger later.
  std::int64_t pendingTtlMicros = 0;
  // Remember what changed since the last snapshot (kernel/ledger/snapshot.h).
  bool snapshots = false;
};

struct Proposal {
  std::string_view entity;
  std::string_view role;
  std::string_view operationId;
  std::string_view device;
  std::string_view agent;
  const Action* action = nullptr;
  Time at;
  // Frozen and state-dependent refusals are remembered under the operation id (it was derived from an input line).
  bool remember = false;
  // The run that acts and the digest of its plan; zeros: neither. A run acts by one plan (kernel/run_bindings.h).
  Hash runKey{};
  Hash planDigest{};
  std::span<const std::uint8_t> proof = {};  // that its device signed it
};

// Who asked for the beginning of an entity, and that its device signed it.
struct Beginner {
  std::string_view operationId, device, agent;
  std::span<const std::uint8_t> proof;
};

struct CounselorDecision {
  std::string_view entity;
  std::string_view counselor;
  std::string_view operationId;
  bool commit = false;
  CommitBase base = CommitBase::candidate;
  const json::object* edit = nullptr;  // commit; may be null
  std::string_view reason;
  // F17: what the counselor was shown; if given, anything else pending by now makes the decision stale.
  std::optional<std::uint64_t> escalation;
  std::optional<Hash> pendingDigest;
  Time at;
  bool remember = false;
  // Of the device that passed it on, the person's signature of it, and that the device signed it.
  std::string_view device = {};
  std::string_view agent = {};
  std::span<const std::uint8_t> signature = {};
  std::span<const std::uint8_t> proof = {};
};

struct Decision {
  Outcome outcome = Outcome::refused;
  std::uint64_t seq = 0;  // ledger entry, 0: none
  std::string invariant;
  std::string message;
  std::optional<bool> safe;               // cCommitted
  std::vector<std::string> violated;      // cCommitted, unsafe: the invariants that do not pass, in list order
  Outcome recorded = Outcome::duplicate;  // duplicate: what was answered the first time
  bool boundElsewhere = false;            // rejected because its run is bound to another plan
};

// How a recorded batch is folded. trusted: this device wrote it, or checked it when it came. checked: every decision in
// it is made again first, and must come out as recorded.
enum class Fold : std::uint8_t { trusted, checked };

// A pending proposal (Def. A.30) as a counselor sees it.
struct PendingView {
  std::string entity;
  std::uint64_t seq = 0;
  Hash digest{};  // leaf hash of the escalation entry: commits to everything shown
  Time at;
  std::string role, device, agent, action, invariant, message;
  std::vector<Finding> findings;  // the whole detection vector (F16)
  std::optional<Time> expires;
};

struct PendingProposal;

class Partition {
 public:
  // `history` answers entries of batches handed out before; may be null, then repeats of those are answered without
  // their message.
  Partition(const DomainModule& module, PartitionOptions options = {}, EntrySource* history = nullptr);
  ~Partition();
  Partition(Partition&&) = delete;

  // ---- events ----
  // Made again with the same fields and time it is a duplicate.
  Decision init(std::string_view entity, const json::object& fields, Time at, const Beginner& by = {});
  // For callers who do not give the time: made again with the same fields it is a duplicate, whenever the entity began.
  // With other ones it is refused; `tell` names the fields that differ. Reads one entry if the entity has any.
  Decision begin(std::string_view entity, const json::object& fields, Time now, bool tell, const Beginner& by = {});
  Decision propose(const Proposal&);
  // A hint: these entities are about to be decided on. Call it with the next few (8 to 16) of a batch: their memory is
  // then fetched at the same time instead of one after the other.
  void expect(std::span<const std::string_view> entities) const;
  Decision decide(const CounselorDecision&);
  // Rejects pending proposals whose time is up, as counselor "system". Each made one entry.
  // With `only`, that entity's alone; at most so many, those first that have waited longest.
  std::vector<std::pair<std::string, Decision>> expire(Time now, std::optional<std::string_view> only = std::nullopt,
                                                       std::size_t most = ~std::size_t{0});

  // Begins an epoch: a batch of its own. Requires: no open batch, a later epoch than the last.
  // `format`: kSignedBeginnings, if entries and beginnings are to bear proofs.
  void beginEpoch(const Epoch& epoch, EpochCause cause, Time at, std::string_view reason,
                  std::string_view successor = {}, std::uint16_t format = 0);

  // ---- effects ----
  bool hasOpenBatch() const { return !batch_.empty(); }
  std::size_t openBatchBytes() const { return batch_.bytes(); }
  // The open batch's first sequence number and bytes; starts a new one.
  struct Batch {
    std::uint64_t firstSeq = 0;
    std::string value;
  };
  Batch takeBatch();
  // A batch that was taken and written: its memory serves the next one.
  void reuse(Batch&& batch) { batch_.reuse(std::move(batch.value)); }

  // ---- recovery and following ----
  // Folds a batch that another run or the owner decided. Errors, naming the entry: corrupt; unauthorised, if the rules
  // do not give a decision that is to be checked. After an error the partition is in no usable state. A torn last batch
  // is folded up to its cut (info says so).
  Result<LogBatchInfo> fold(std::string_view value, Fold how = Fold::trusted);

  // ---- reading ----
  std::uint64_t size() const { return frontier_.size(); }
  const MerkleFrontier& tree() const { return frontier_; }
  const DomainModule& module() const { return *module_; }
  std::size_t entityCount() const { return instances_.size(); }
  std::vector<std::string> entities() const;                // sorted
  const EntityState* state(std::string_view entity) const;  // null: unknown
  const Hash* stateDigest(std::string_view entity) const;
  bool frozen(std::string_view entity) const;  // something is pending
  // Would a proposal of this action be answered "frozen"? O(rows that it touches) while something is pending.
  bool holds(std::string_view entity, const Action& action, Time at) const;
  bool knows(std::string_view operationId) const;  // decided or remembered
  // The number of the entry that decided it, and of the newest of an entity; 0: there is none.
  std::uint64_t entryOf(std::string_view operationId) const;
  std::uint64_t newestEntryOf(std::string_view entity) const;
  std::vector<PendingView> queue() const;  // by sequence number
  std::optional<PendingView> pending(std::string_view entity) const;
  std::uint64_t unsafeCommits() const { return unsafeCommits_; }
  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  // Whether entries bear their proposers' proofs now.
  bool isSigned() const { return format() >= kSignedFormat; }
  // What bears proofs in the last epoch.
  std::uint16_t format() const { return epochs_.empty() ? std::uint16_t{0} : epochs_.back().format; }
  // Of any entry, those of the open batch among them.
  Result<std::string> entryBytes(std::uint64_t seq);
  // The latest time of any entry or epoch: the partition's clock (F5).
  Time latest() const { return latest_; }
  void checkInvariants() const;

  // What the log's batches add up to, in an order of its own: equal on all devices that folded this log, whatever
  // snapshots they went through. `firstSeqs`: of each batch. Requires: no open batch. O(states + operations log).
  struct Folded {
    Hash digest{};
    std::uint64_t bytes = 0;  // of what it is over
  };
  Folded folded(const std::vector<std::uint64_t>& firstSeqs) const;

  // ---- snapshots (kernel/ledger/snapshot.h) ----
  // What changed since the last one. `batches` of the log are committed; `newBatches` are the first sequence numbers of
  // those since the last snapshot. Requires: options.snapshots, no open batch.
  void stageSnapshot(std::uint64_t batches, const std::vector<std::uint64_t>& newBatches, store::WriteBatch& out);
  // Fills an empty partition; returns how many batches it contains, or nothing if there is no snapshot. After an error
  // the partition is in no usable state: make a new one and fold the whole log. `earlier`: module digests, in hex, of
  // versions of the rules whose snapshots are taken, too (kernel/ledger/ledger_versions.h).
  Result<std::optional<std::uint64_t>> restoreSnapshot(const store::Reader&, std::vector<std::uint64_t>& firstSeqs,
                                                       const std::vector<std::string>& earlier = {});

  struct Instance;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const;
  };
  using OperationKey = std::array<std::uint64_t, 2>;
  struct OperationHash {
    std::size_t operator()(const OperationKey& key) const { return key[0]; }
  };

  Instance* find(std::string_view entity);
  const Instance* find(std::string_view entity) const;
  static OperationKey keyOf(std::string_view operationId);
  // The recorded answer if the id is known; a refusal if it names another act than `sameAct` accepts.
  std::optional<Decision> recorded(const OperationKey&, std::string_view operationId,
                                   const std::function<bool(const Entry&)>& sameAct);
  Decision decisionOf(const EntryView&) const;
  // {"at", "state"}, as the entity began.
  Result<json::object> beginning(const Instance& instance);
  Hash genesisHash(std::string_view entity, std::string_view genesis);
  // Two plans of one run may share an operation: turned away under the one, it is still to be done under the other.
  bool isOpenAgain(const OperationKey&, const Proposal&, const std::function<bool(const Entry&)>& sameAct);
  Decision refuse(std::string message, bool remember, std::string_view operationId, Outcome outcome = Outcome::refused);
  void append(Instance&, EntryView&, const OperationKey&);
  void noteRun(const EntryView&);
  Decision counselorEntry(Instance&, EntryView&, const CounselorDecision&);
  // Whether the entry to come is the first of an epoch whose first entry names it.
  bool beginsEpoch() const { return isSigned() && epochs_.back().entries == frontier_.size(); }
  Status checkSigned(const EntryView&) const;
  Status checkBeginning(const GenesisView&) const;
  Status foldEntry(std::string_view payload, const Hash& leaf, Fold how);
  Status decideAgain(Instance&, const EntryView&);
  Status foldGenesis(std::string_view payload, Fold how);
  Status foldNote(std::string_view payload);
  Status foldEpoch(std::string_view payload, Fold how);
  Status freeze(Instance&, const EntryView&, const Hash& leaf);
  bool holds(const Instance&, const Action&, Time at) const;
  bool isDue(const PendingProposal&, Time now) const;
  Status restoreChunk(const store::Reader&, std::uint64_t number, std::vector<std::uint64_t>& firstSeqs);
  Status restoreEntity(std::string_view entity, std::string_view sealed);
  void name(const OperationKey&, std::uint64_t answer);
  void noteChange(std::string_view entity, Instance&);
  void stageChunk(std::size_t from, const std::vector<std::uint64_t>& newBatches, store::WriteBatch& out);
  PendingView viewOf(std::string_view entity, const Instance&) const;

  const DomainModule* module_;
  PartitionOptions options_;
  EntrySource* history_;
  boost::unordered_flat_map<std::string, std::unique_ptr<Instance>, TextHash, std::equal_to<>> instances_;
  std::map<std::uint64_t, std::string> pendingBySeq_;
  // Sequence number of the deciding entry, or index into notes_ with the top bit set (kernel/partition_instance.h).
  boost::unordered_flat_map<OperationKey, std::uint64_t, OperationHash> operations_;
  std::vector<std::pair<Outcome, std::string>> notes_;
  RunBindings bindings_;
  MerkleFrontier frontier_;
  LogBatch batch_;
  std::uint64_t unsafeCommits_ = 0;
  std::vector<EpochRecord> epochs_;
  Time latest_{};
  // Since the last snapshot.
  std::vector<std::string> changed_;
  std::vector<std::pair<OperationKey, std::uint64_t>> newOperations_;
  std::vector<RunBindings::Row> newBindings_;
  std::size_t snapshotNotes_ = 0;
  std::uint64_t snapshotChunks_ = 0;
  // Scratch, kept for its memory.
  DecisionCheck check_;
  Evaluation evaluation_;
  WordWriter writer_;
  std::string action_;
};

}  // namespace witan::kernel
