// Ledger: one partition's log in a store. It opens and folds what is there, cuts a torn tail, writes new batches (one
// value and one sync each), finds entries, and keeps signed checkpoints.
//
// Keys (docs/ledger-format.md): "format" -> JSON of the ledger's meaning; "l" + u64 big-endian batch number ->
// LogBatch; "c" + u64 big-endian size -> signed checkpoint. Used from one strand. The store and the module outlive it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "kernel/partition.h"
#include "kernel/record/checkpoint.h"
#include "store/store.h"

namespace witan::kernel {

inline constexpr int kLedgerFormat = 1;
inline constexpr std::uint64_t kSnapshotEvery = 20'000;  // entries; about 50 ms of folding

// What a store says of its ledger, readable without the domain's code.
struct LedgerFormat {
  int version = kLedgerFormat;
  std::string domain;
  std::string origin;                   // the log's name in checkpoints
  std::string moduleDigest;             // hex
  std::vector<std::string> invariants;  // KERNEL_INTEGRITY first, then in list order
  std::vector<std::string> counselors;
  json::object policy;
  std::string rules;  // the rule file that the domain is made from; empty: it is compiled

  // The lines that a checkpoint of this ledger carries about it. Each starts with its name and a space.
  std::vector<std::string> checkpointLines() const;
  // Errors: corrupt, naming the line of a checkpoint that says otherwise. Checkpoints of older versions lack lines.
  Status agreesWith(const Checkpoint& checkpoint, std::string_view where) const;
};

// A signed head that a log must extend: one that its signer remembers, or the newest that the store holds.
struct SignedHead {
  Checkpoint checkpoint;
  std::string where;  // "the checkpoint in FILE", for messages
};

struct LedgerOptions {
  PartitionOptions partition;
  std::string origin;                    // for a new ledger
  std::optional<SignedHead> signedHead;  // kept outside of the store; its signature was verified
};

struct RecoveryReport {
  std::uint64_t batches = 0;
  std::uint64_t entries = 0;
  bool cutTornTail = false;
  std::uint64_t recordsKept = 0;      // of the torn batch
  std::uint64_t snapshotBatches = 0;  // batches that a snapshot spared
};

class Ledger final : public EntrySource {
 public:
  // Null when the store holds no ledger. Errors: a newer format, unreadable words.
  static Result<std::optional<LedgerFormat>> readFormat(const store::Reader&);

  // Opens or creates. Refuses another domain, policy or invariant list than the ledger was written under, a newer
  // format, and a damaged log (corrupt, naming the first bad entry). A torn last batch is cut and reported. Refuses a
  // log that does not extend the newest checkpoint in the store and options.signedHead (corrupt): what is signed next
  // would vouch for altered entries. Reads the whole log again only if a snapshot is newer than these heads.
  static Result<std::unique_ptr<Ledger>> open(store::Store&, const DomainModule&, LedgerOptions);

  Partition& partition() { return *partition_; }
  const LedgerFormat& format() const { return format_; }
  const RecoveryReport& recovery() const { return recovery_; }

  // Moves the open batch into `out`; nothing to do is fine. The caller writes and syncs it. Requires: the previous
  // one succeeded.
  void stage(store::WriteBatch& out);
  // stage + writeSynced. After an error nothing may be acknowledged any more.
  Status commit();

  // Writes a snapshot if at least `entries` entries came since the last. Derived data: not synced.
  Status snapshotIfDue(std::uint64_t entries = kSnapshotEvery);

  // Signs and stores a checkpoint of everything committed, unless the newest one says the same.
  Status checkpoint(const SigningKey&, Time now);

  // ---- following and replication ----
  std::uint64_t batches() const { return firstSeqs_.size(); }
  // Batches and entries that were pruned: the log begins behind them.
  std::uint64_t prunedBatches() const { return prunedBatches_; }
  std::uint64_t prunedEntries() const { return prunedEntries_; }
  // Where each epoch of partition().epochs() begins: the number of its batch.
  const std::vector<std::uint64_t>& epochStarts() const { return epochStarts_; }
  // Which holds an entry. Requires: there is the entry, in no open batch.
  std::uint64_t batchOf(std::uint64_t seq) const;
  // The number of its first entry, or of the next if it has none; also of a batch that was pruned. Requires: number <
  // batches().
  std::uint64_t firstSeqOf(std::uint64_t number) const { return firstSeqs_[number]; }
  // What the log adds up to (Partition::folded()). Requires: no open batch.
  Partition::Folded folded() const { return partition_->folded(firstSeqs_); }
  // The value of a batch. Requires: number < batches().
  Result<std::string> batch(std::uint64_t number) const;
  // Makes the decisions of the next batch again, as its owner wrote it, folds it and stages it. Errors: corrupt;
  // unauthorised, if the rules do not give a decision. After an error the ledger is unusable: open it again.
  Status follow(std::string_view value, store::WriteBatch& out);
  // What follow() staged is in the store now. Until then it is read from here: a device that has just been handed the
  // partition may be asked about its predecessor's last decisions before they are written.
  void written() { unwritten_.clear(); }
  // Stages the removal of every batch from `number` on; the ledger must be opened again once that is written.
  Status stageTruncation(std::uint64_t number, store::WriteBatch& out) const;

  Result<std::string> entryBytes(std::uint64_t seq) override;
  // Over the first `size` entries, from the log itself. O(entries). Requires: there are so many.
  Result<MemoryTree> treeOf(std::uint64_t size) const;
  // Its root; O(1) if it is that of the whole log.
  Result<Hash> rootOf(std::uint64_t size) const;

 private:
  // The hashes of the first `size` leaves, in order.
  Status forEachLeaf(std::uint64_t size, const std::function<void(const Hash&)>& visit) const;
  Ledger(store::Store& store) : store_(store) {}
  Status foldAll(std::vector<SignedHead> heads);
  Result<std::vector<SignedHead>> headsToExtend(const LedgerOptions& options) const;
  Status checkHead(const SignedHead& head) const;
  void noteEpochs();
  Status restoreEpochStarts();
  Status restore(const DomainModule&, const LedgerOptions&);

  store::Store& store_;
  LedgerFormat format_;
  RecoveryReport recovery_;
  std::unique_ptr<Partition> partition_;
  std::vector<std::uint64_t> firstSeqs_;  // of batch n
  std::vector<std::uint64_t> epochStarts_;
  std::map<std::uint64_t, std::string> unwritten_;  // batches that were followed
  std::uint64_t prunedBatches_ = 0, prunedEntries_ = 0;
  std::uint64_t snapshotBatches_ = 0;
  std::uint64_t snapshotEntries_ = 0;
  // The batch last read, for look-ups in a row.
  std::uint64_t cachedBatch_ = ~std::uint64_t{0};
  std::vector<std::string> cachedEntries_;
};

std::string batchKey(std::uint64_t number);
std::string checkpointKey(std::uint64_t size);

}  // namespace witan::kernel
