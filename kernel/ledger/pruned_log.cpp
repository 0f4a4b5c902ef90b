#include "kernel/ledger/pruned_log.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "kernel/ledger/ledger.h"
#include "kernel/ledger/ledger_versions.h"
#include "kernel/ledger/snapshot.h"
#include "kernel/partition.h"

namespace witan::kernel {

namespace {

constexpr std::string_view kPrunedKey = "pruned";
constexpr std::string_view kStateLine = "state ";
constexpr std::uint64_t kLeavesOfTile = 256;
constexpr std::size_t kPruneWriteBytes = 4 << 20, kPruneWriteOps = 10'000;
constexpr std::int64_t kMicrosOfDay = 86'400'000'000;
constexpr std::uint64_t kMostDays = 10'000'000;  // before the year 1

std::string tileKey(std::uint64_t number) { return concat("t", batchKey(number).substr(1)); }
std::string stateRows(std::uint64_t batches) { return concat("b", batchKey(batches).substr(1)); }

void add(RowsDigest& digest, const std::vector<EpochStart>& epochs) {
  for (const EpochStart& epoch : epochs) digest.add("epoch", concat(epoch.number, " ", epoch.batch));
}

std::string copyOrigin(std::string_view origin) { return concat(kCopyStatement, origin); }
bool isCopy(const PrunedLog& pruned) { return pruned.note.starts_with(kCopyStatement); }

// Writes of bounded size, without a sync.
class SmallWrites {
 public:
  explicit SmallWrites(store::Store& store) : store_(store) {}
  Status put(std::string_view key, std::string_view value) {
    batch_.put(key, value);
    return batch_.bytes() < kPruneWriteBytes ? okStatus() : flush();
  }
  Status erase(std::string_view key) {
    batch_.erase(key);
    return batch_.size() < kPruneWriteOps ? okStatus() : flush();
  }
  Status flush() {
    if (batch_.empty()) return okStatus();
    WITAN_DO(store_.write(batch_));
    batch_.clear();
    return okStatus();
  }

 private:
  store::Store& store_;
  store::WriteBatch batch_;
};

// Where a log may begin.
struct Horizon {
  std::uint64_t batches = 0, entries = 0;
};

// The places between the batches at which no question is open and nothing before is too young; the last is the end.
class HorizonSearch {
 public:
  HorizonSearch(Horizon begin, const Retention& keep, Time now, const PruneOptions& options)
      : at_(begin), keep_(keep), options_(options), found_{begin} {
    if (keep.days > 0) since_ = now.micros - static_cast<std::int64_t>(std::min(keep.days, kMostDays)) * kMicrosOfDay;
  }

  Status batch(std::string_view value) {
    const std::string aligned(value);  // a string's heap bytes are aligned
    WITAN_TRY(info, readLogBatch(aligned, [&](const LogRecord& record) -> Status {
                if (record.kind == RecordKind::epoch) return epoch(record.payload);
                return record.kind == RecordKind::entry ? entry(record.payload) : okStatus();
              }));
    if (info.torn) return corrupt("the last batch is torn", "run witan run --store on it first");
    ++at_.batches;
    if (open_.empty() && !young_ && at_.batches <= options_.batches) found_.push_back(at_);
    return okStatus();
  }

  // The last one that has everything behind it which the retention keeps.
  Horizon latest() const {
    const std::uint64_t least = std::max<std::uint64_t>(keep_.entries, 1);
    const auto good = [&](const Horizon& one) { return one.entries + least <= at_.entries; };
    const auto last = std::find_if(found_.rbegin(), found_.rend(), good);
    return last == found_.rend() || last->entries == found_.front().entries ? found_.front() : *last;
  }
  std::uint64_t entries() const { return at_.entries; }
  // Those that begin in the batches before.
  std::vector<EpochStart> epochsBefore(std::uint64_t batches) const {
    return {epochs_.begin(), std::ranges::lower_bound(epochs_, batches, {}, &EpochStart::batch)};
  }

 private:
  Status epoch(std::string_view payload) {
    if (!options_.ofCluster)
      return conflict("a ledger of a cluster is not pruned by hand: its devices rely on each other's copies",
                      "say what copies keep: witan partition retain");
    EpochRecord record;
    WITAN_DO(readMessage(payload, record, "epoch"));
    epochs_.push_back({record.number, at_.batches});
    return okStatus();
  }
  Status entry(std::string_view payload) {
    WITAN_TRY(e, readEntryView(payload));
    ++at_.entries;
    young_ = young_ || (since_ && e.time.micros > *since_);
    if (e.tag == Tag::escalated) open_.insert(at_.entries);
    if (e.tag == Tag::cCommitted || e.tag == Tag::cRejected) open_.erase(e.escalation);
    return okStatus();
  }

  Horizon at_;
  const Retention keep_;
  const PruneOptions options_;
  std::vector<EpochStart> epochs_;
  std::optional<std::int64_t> since_;
  std::set<std::uint64_t> open_;  // questions
  bool young_ = false;
  std::vector<Horizon> found_;
};

Result<std::string> batchOfLog(const store::Reader& store, std::uint64_t number) {
  WITAN_TRY(value, store.get(batchKey(number)));
  if (!value) return corrupt(concat("batch ", number, " of the log is missing"));
  return *std::move(value);
}

// What the entries up to a horizon add up to: what those before it did, and the batches in between.
struct Folded {
  std::map<std::string, std::string> rows;  // of the snapshot
  std::vector<Hash> leaves;                 // in between
  Hash root{};
};

Result<Folded> foldUpTo(const store::Reader& store, const DomainModule& module, const std::optional<PrunedLog>& before,
                        const Horizon& horizon) {
  Folded folded;
  Partition partition(module, {.snapshots = true});
  std::vector<std::uint64_t> known, fresh;
  if (before) {
    const auto state = prunedState(store, *before);
    WITAN_TRY(earlier, earlierModules(store));
    WITAN_TRY(batches, partition.restoreSnapshot(state, known, earlier));
    if (batches != before->batches) return corrupt("the snapshot is not of the batches that were pruned");
    WITAN_DO(forEachStateRow(store, *before,
                             [&](std::string_view key, std::string_view value) { folded.rows.emplace(key, value); }));
  }
  for (std::uint64_t n = known.size(); n < horizon.batches; ++n) {
    WITAN_TRY(value, batchOfLog(store, n));
    fresh.push_back(partition.size() + 1);
    WITAN_TRY(info, partition.fold(value));
    WITAN_TRY(read, readLogBatch(value, [&](const LogRecord& record) {
                if (record.kind == RecordKind::entry) folded.leaves.push_back(record.leaf);
                return okStatus();
              }));
    (void)info, (void)read;
  }
  store::WriteBatch staged;
  partition.stageSnapshot(horizon.batches, fresh, staged);
  for (std::size_t i = 0; i < staged.size(); ++i)
    folded.rows.insert_or_assign(std::string(staged.op(i).key), std::string(staged.op(i).value));
  folded.root = partition.tree().root();
  return folded;
}

// `from`: entries whose leaves stand in tiles.
Status writeTiles(const store::Reader& store, std::uint64_t from, const std::vector<Hash>& leaves, SmallWrites& out) {
  std::uint64_t number = from / kLeavesOfTile;
  std::string tile;
  if (const std::size_t bytes = from % kLeavesOfTile * sizeof(Hash); bytes > 0) {
    WITAN_TRY(begun, store.get(tileKey(number)));
    if (!begun || begun->size() < bytes) return corrupt(concat("tile ", number, " of the pruned entries is cut"));
    tile = begun->substr(0, bytes);
  }
  for (const Hash& leaf : leaves) {
    tile += asView(std::span<const std::uint8_t>(leaf));
    if (tile.size() < kLeavesOfTile * sizeof(Hash)) continue;
    WITAN_DO(out.put(tileKey(number++), tile));
    tile.clear();
  }
  return tile.empty() ? okStatus() : out.put(tileKey(number), tile);
}

// `digest`: of the snapshot's rows.
Result<std::string> signState(const LedgerFormat& format, std::string origin, std::uint64_t entries, const Hash& root,
                              RowsDigest digest, const std::vector<EpochStart>& epochs, const SigningKey& key,
                              Time now) {
  add(digest, epochs);
  Checkpoint checkpoint{std::move(origin), entries, root, format.checkpointLines()};
  checkpoint.extensions.push_back(concat(kStateLine, toHex(digest.finish())));
  checkpoint.extensions.push_back("time " + formatTime(now));
  return signCheckpoint(checkpoint, key);
}

Status writePrunedRow(store::Store& store, const PrunedLog& pruned) {
  store::WriteBatch row;
  WordWriter words;
  row.put(kPrunedKey, sealSnapshot(words.message(pruned)));
  return store.writeSynced(row);
}

// The row "pruned" comes last, and makes everything before it durable.
Status writePruned(store::Store& store, const PrunedLog& pruned, const Folded& folded, std::uint64_t from) {
  SmallWrites out(store);
  for (const auto& [key, value] : folded.rows) WITAN_DO(out.put(concat(stateRows(pruned.batches), key), value));
  WITAN_DO(writeTiles(store, from, folded.leaves, out));
  WITAN_DO(out.flush());
  return writePrunedRow(store, pruned);
}

// Takes the keys with the prefix out, but for those that stay.
template <class Stays>
Status eraseRows(store::Store& store, std::string_view prefix, Stays stays) {
  for (std::string from(prefix); !from.empty();) {
    SmallWrites out(store);
    std::vector<std::string> keys;
    WITAN_DO(store.scan(prefix, from, [&](std::string_view key, std::string_view) {
      if (!stays(key)) keys.emplace_back(key);
      return keys.size() < kPruneWriteOps;
    }));
    for (const std::string& key : keys) WITAN_DO(out.erase(key));
    WITAN_DO(out.flush());
    from = keys.size() < kPruneWriteOps ? std::string() : keys.back();
  }
  return okStatus();
}

// What is pruned, and what a crash left of an attempt.
Status sweep(store::Store& store, const std::optional<PrunedLog>& pruned) {
  const std::string state = pruned ? stateRows(pruned->batches) : std::string();
  WITAN_DO(eraseRows(store, "b", [&](std::string_view key) { return pruned && key.starts_with(state); }));
  if (!pruned) return okStatus();
  const std::string begin = batchKey(pruned->batches);
  WITAN_DO(eraseRows(store, "l", [&](std::string_view key) { return key >= begin; }));
  return store.sync();
}

}  // namespace

Result<std::optional<PrunedLog>> prunedLog(const store::Reader& store) {
  WITAN_TRY(sealed, store.get(kPrunedKey));
  if (!sealed) return std::optional<PrunedLog>();
  WITAN_TRY(payload, unsealSnapshot(*sealed));
  PrunedLog row;
  WITAN_DO(readMessage(payload, row, "pruned"));
  if (row.version != kPrunedVersion)
    return conflict(concat("the ledger was pruned in form ", row.version, ", this build knows form ", kPrunedVersion),
                    "use a newer witan");
  if (row.batches == 0 || row.entries == 0) return corrupt("the record of pruned entries speaks of none");
  return std::optional(std::move(row));
}

Error isPruned(const PrunedLog& pruned) {
  std::string kept;
  if (pruned.keepEntries > 0) kept = concat("the newest ", pruned.keepEntries);
  if (pruned.keepDays > 0) kept += concat(kept.empty() ? "" : ", and ", "those of ", pruned.keepDays, " days");
  return {
      ErrorCode::notFound,
      concat("entries 1 to ", pruned.entries, " were pruned here on ", formatTime(Time{pruned.at}).substr(0, 10),
             ": their hashes stand, they do not (kept were ", kept, ")"),
      isCopy(pruned) ? "ask a device that keeps every entry: witan partition list" : "look in an export from before"};
}

Status forEachPrunedLeaf(const store::Reader& store, const PrunedLog& pruned,
                         const std::function<Status(const Hash&)>& visit) {
  for (std::uint64_t number = 0; number * kLeavesOfTile < pruned.entries; ++number) {
    WITAN_TRY(tile, store.get(tileKey(number)));
    const std::uint64_t leaves = std::min(kLeavesOfTile, pruned.entries - number * kLeavesOfTile);
    if (!tile || tile->size() < leaves * sizeof(Hash))
      return corrupt(concat("tile ", number, " of the pruned entries is missing or cut"),
                     "restore the store from a copy");
    for (std::uint64_t i = 0; i < leaves; ++i) {
      Hash leaf{};
      std::memcpy(leaf.data(), tile->data() + i * sizeof leaf, sizeof leaf);
      WITAN_DO(visit(leaf));
    }
  }
  return okStatus();
}

Result<Hash> prunedLeaf(const store::Reader& store, std::uint64_t seq) {
  const std::uint64_t number = (seq - 1) / kLeavesOfTile, at = (seq - 1) % kLeavesOfTile * sizeof(Hash);
  WITAN_TRY(tile, store.get(tileKey(number)));
  Hash leaf{};
  if (!tile || tile->size() < at + sizeof leaf)
    return corrupt(concat("tile ", number, " of the pruned entries is cut"));
  std::memcpy(leaf.data(), tile->data() + at, sizeof leaf);
  return leaf;
}

Status forEachStateRow(const store::Reader& store, const PrunedLog& pruned,
                       const std::function<void(std::string_view key, std::string_view value)>& visit) {
  Status status = okStatus();
  WITAN_DO(prunedState(store, pruned).scan({}, {}, [&](std::string_view key, std::string_view value) {
    if (!isSnapshotKey(key)) status = corrupt("what stands for the pruned entries has a row of another kind");
    if (status.ok()) visit(key, value);
    return status.ok();
  }));
  return status;
}

store::PrefixReads<store::Reader> prunedState(const store::Reader& store, const PrunedLog& pruned) {
  return {store, stateRows(pruned.batches)};
}

namespace {

Result<RowsDigest> digestOfState(const store::Reader& store, const PrunedLog& pruned) {
  RowsDigest digest;
  WITAN_DO(
      forEachStateRow(store, pruned, [&](std::string_view row, std::string_view value) { digest.add(row, value); }));
  return digest;
}

}  // namespace

Status checkPrunedState(const store::Reader& store, const PrunedLog& pruned, const Hash& root, std::string_view origin,
                        const std::optional<NoteVerifier>& key, std::span<const PublicKey> copyKeys) {
  Checkpoint said;
  const std::string of = isCopy(pruned) ? copyOrigin(origin) : std::string(origin);
  std::vector<NoteVerifier> keys;
  if (!isCopy(pruned) && key) keys.push_back(*key);
  for (const PublicKey& one : isCopy(pruned) ? copyKeys : std::span<const PublicKey>()) {
    WITAN_TRY(verifier, makeNoteVerifier(of, one));
    keys.push_back(std::move(verifier));
  }
  if (!keys.empty()) {
    auto opened = openCheckpoint(pruned.note, of, keys);
    if (!opened) return corrupt("what the pruned entries add up to bears no good signature: " + opened.error().message);
    said = std::move(opened->checkpoint);
  } else {
    WITAN_SET(said, parseCheckpointText(std::string_view(pruned.note).substr(0, pruned.note.find("\n\n") + 1)));
  }
  WITAN_TRY(digest, digestOfState(store, pruned));
  add(digest, pruned.epochs);
  const bool same = said.origin == of && said.size == pruned.entries && said.root == root;
  if (!same) return corrupt("the tiles of the pruned entries are not those that were signed");
  if (std::ranges::find(said.extensions, concat(kStateLine, toHex(digest.finish()))) == said.extensions.end())
    return corrupt("what the pruned entries add up to is not what was signed", "restore the store from a copy");
  return okStatus();
}

Result<PruneReport> pruneLog(store::Store& store, const DomainModule& module, const SigningKey& key,
                             const Retention& keep, Time now, const PruneOptions& options) {
  WITAN_TRY(format, Ledger::readFormat(store));
  if (!format) return notFound("the store holds no ledger");
  if (format->moduleDigest != toHex(module.digest()))
    return conflict("the ledger was written under another policy or version of its domain");
  WITAN_TRY(before, prunedLog(store));
  const Horizon begin = before ? Horizon{before->batches, before->entries} : Horizon{};
  HorizonSearch search(begin, keep, now, options);
  Status status = okStatus();
  WITAN_DO(store.scan("l", batchKey(begin.batches), [&](std::string_view, std::string_view value) {
    status = search.batch(value);
    return status.ok();
  }));
  if (!status.ok()) return status.error();
  const Horizon horizon = search.latest();
  PruneReport report{begin.entries, horizon.entries, search.entries()};
  if (horizon.entries > begin.entries) {
    WITAN_DO(sweep(store, before));
    WITAN_TRY(folded, foldUpTo(store, module, before, horizon));
    std::vector<EpochStart> epochs = before ? std::move(before->epochs) : std::vector<EpochStart>();
    for (const EpochStart& epoch : search.epochsBefore(horizon.batches)) epochs.push_back(epoch);
    RowsDigest digest;
    for (const auto& [row, value] : folded.rows) digest.add(row, value);
    WITAN_TRY(note, signState(*format, options.ofCluster ? copyOrigin(format->origin) : format->origin, horizon.entries,
                              folded.root, digest, epochs, key, now));
    before = PrunedLog{.batches = horizon.batches,
                       .entries = horizon.entries,
                       .at = now.micros,
                       .keepEntries = keep.days == 0 ? std::max<std::uint64_t>(keep.entries, 1) : keep.entries,
                       .keepDays = keep.days,
                       .note = std::move(note),
                       .epochs = std::move(epochs),
                       .vouched = before ? std::move(before->vouched) : std::vector<std::string>()};
    WITAN_DO(writePruned(store, *before, folded, begin.entries));
  }
  WITAN_DO(sweep(store, before));
  return report;
}

Result<std::uint64_t> firstMissing(const store::Reader& store, std::uint64_t end) {
  std::uint64_t next = 0;
  WITAN_DO(store.scan("l", {}, [&](std::string_view key, std::string_view) {
    const bool there = next < end && key == batchKey(next);
    next += there ? 1 : 0;
    return there;
  }));
  return next;
}

Status makeWhole(store::Store& store) {
  WITAN_TRY(pruned, prunedLog(store));
  if (!pruned) return okStatus();
  WITAN_TRY(next, firstMissing(store, pruned->batches));
  if (next < pruned->batches) return corrupt(concat("batch ", next, " of the log is missing"));
  WITAN_DO(store.sync());  // the batches are on disk before what stands for them goes
  // Others said what they add up to: from now on its own fold counts.
  if (!pruned->vouched.empty()) WITAN_DO(eraseRows(store, "s/", [](std::string_view) { return false; }));
  store::WriteBatch row;
  row.erase(kPrunedKey);
  WITAN_DO(store.writeSynced(row));
  WITAN_DO(eraseRows(store, "b", [](std::string_view) { return false; }));
  return eraseRows(store, "t", [](std::string_view) { return false; });
}

Result<Hash> prunedRoot(const store::Reader& store, const PrunedLog& pruned) {
  MerkleFrontier tree;
  WITAN_DO(forEachPrunedLeaf(store, pruned, [&](const Hash& leaf) {
    tree.append(leaf);
    return okStatus();
  }));
  return tree.root();
}

Status beginPruned(store::Store& store, PrunedLog pruned, std::vector<std::string> vouched, const SigningKey& key,
                   Time now) {
  WITAN_TRY(format, Ledger::readFormat(store));
  if (!format) return notFound("the store holds no ledger");
  WITAN_TRY(root, prunedRoot(store, pruned));
  WITAN_TRY(digest, digestOfState(store, pruned));
  WITAN_SET(pruned.note,
            signState(*format, copyOrigin(format->origin), pruned.entries, root, digest, pruned.epochs, key, now));
  pruned.at = now.micros;
  pruned.vouched = std::move(vouched);
  return writePrunedRow(store, pruned);
}

}  // namespace witan::kernel
