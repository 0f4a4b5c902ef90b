#include "kernel/ledger/ledger.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/ledger/ledger_versions.h"
#include "kernel/ledger/pruned_log.h"
#include "kernel/ledger/snapshot.h"

namespace witan::kernel {

namespace {

constexpr std::string_view kFormatKey = "format";
constexpr std::string_view kEarlierPrefix = "format/";
constexpr std::uint64_t kBytesAnEntry = 512;  // of most domains

std::string bigEndian(std::uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i));
  return bytes;
}

std::string formatText(const LedgerFormat& format) {
  json::object o;
  o["format"] = format.version;
  o["domain"] = format.domain;
  o["origin"] = format.origin;
  o["moduleDigest"] = format.moduleDigest;
  json::array ids;
  for (const std::string& id : format.invariants) ids.emplace_back(id);
  o["invariants"] = std::move(ids);
  json::array counselors;
  for (const std::string& id : format.counselors) counselors.emplace_back(id);
  o["counselors"] = std::move(counselors);
  o["policy"] = format.policy;
  if (!format.rules.empty()) o["rules"] = format.rules;
  return canonicalJson(o);
}

LedgerFormat formatOf(const DomainModule& module, std::string origin) {
  LedgerFormat format{
      .domain = module.signature().domain, .origin = std::move(origin), .moduleDigest = toHex(module.digest())};
  format.invariants.emplace_back(kKernelIntegrity);
  for (const InvariantInfo& i : module.signature().invariants) format.invariants.push_back(i.id);
  format.counselors = module.signature().counselors;
  format.policy = parseJson(module.policyJson()).value().as_object();
  format.rules = module.ruleText();
  return format;
}

Error badFormat(const std::string& why) {
  return corrupt("the store's format record is damaged (" + why + ")", "restore the store from a copy");
}

}  // namespace

std::vector<std::string> LedgerFormat::checkpointLines() const {
  std::string listed = "invariants";
  for (const std::string& id : invariants) listed += " " + id;
  // A digest: names of counselors are free text.
  const std::string names = toHex(sha256(canonicalJson(json::array(counselors.begin(), counselors.end()))));
  return {"format " + std::to_string(version), "domain " + domain, "module " + moduleDigest, listed,
          "counselors " + names};
}

Status LedgerFormat::agreesWith(const Checkpoint& checkpoint, std::string_view where) const {
  for (const std::string& mine : checkpointLines()) {
    const std::string_view name(mine.data(), mine.find(' ') + 1);
    for (const std::string& theirs : checkpoint.extensions)
      if (theirs.starts_with(name) && theirs != mine)
        return corrupt("the format record was altered: " + std::string(where) + " has other " +
                           std::string(name.substr(0, name.size() - 1)),
                       "restore the store from a copy");
  }
  return okStatus();
}

std::string batchKey(std::uint64_t number) { return "l" + bigEndian(number); }
std::string checkpointKey(std::uint64_t size) { return "c" + bigEndian(size); }

namespace {

Result<LedgerFormat> formatFrom(std::string_view text) {
  auto parsed = parseJson(text, kOwnJson);
  if (!parsed) return badFormat(parsed.error().message);
  if (!parsed->is_object()) return badFormat("it is no object");
  const json::object& o = parsed->get_object();
  LedgerFormat format;
  std::int64_t version = 0;
  const auto member = [&](std::string_view name) -> const json::value& {
    static const json::value none;
    const json::value* v = o.if_contains(name);
    return v == nullptr ? none : *v;
  };
  if (Status read = readInteger(member("format"), version, "format"); !read.ok())
    return badFormat(read.error().message);
  if (version != kLedgerFormat)
    return conflict(concat("the ledger has format ", version, ", this build knows format ", kLedgerFormat),
                    "use a newer witan");
  const auto rest = [&]() -> Status {
    WITAN_DO(readText(member("domain"), format.domain, "domain"));
    WITAN_DO(readText(member("origin"), format.origin, "origin"));
    WITAN_DO(readText(member("moduleDigest"), format.moduleDigest, "moduleDigest"));
    WITAN_DO(readJson(member("invariants"), format.invariants, "invariants"));
    WITAN_DO(readJson(member("counselors"), format.counselors, "counselors"));
    if (o.contains("rules")) WITAN_DO(readText(member("rules"), format.rules, "rules"));
    if (!isKeyName(format.origin)) return invalid("origin: no name of a log");
    return member("policy").is_object() ? okStatus() : Status(invalid("policy: no object"));
  };
  if (Status read = rest(); !read.ok()) return badFormat(read.error().message);
  format.policy = member("policy").get_object();
  return format;
}

}  // namespace

Result<std::optional<LedgerFormat>> Ledger::readFormat(const store::Reader& store) {
  WITAN_TRY(text, store.get(kFormatKey));
  if (!text) return std::optional<LedgerFormat>();
  WITAN_TRY(format, formatFrom(*text));
  return std::optional(std::move(format));
}

Result<std::vector<LedgerFormat>> earlierFormats(const store::Reader& store) {
  std::vector<LedgerFormat> all;
  Status status = okStatus();
  WITAN_DO(store.scan(kEarlierPrefix, {}, [&](std::string_view, std::string_view text) {
    auto format = formatFrom(text);
    if (format.ok())
      all.push_back(*std::move(format));
    else
      status = format.error();
    return status.ok();
  }));
  if (!status.ok()) return status.error();
  return all;
}

Result<std::vector<std::string>> earlierModules(const store::Reader& store) {
  WITAN_TRY(formats, earlierFormats(store));
  std::vector<std::string> digests;
  for (LedgerFormat& one : formats) digests.push_back(std::move(one.moduleDigest));
  return digests;
}

Status agreesWith(const LedgerFormat& format, const std::vector<LedgerFormat>& earlier, const Checkpoint& checkpoint,
                  std::string_view where) {
  const bool before =
      std::ranges::any_of(earlier, [&](const LedgerFormat& one) { return one.agreesWith(checkpoint, where).ok(); });
  return before ? okStatus() : format.agreesWith(checkpoint, where);
}

bool holdsDecision(std::string_view batch) {
  bool found = false;
  const auto read = readLogBatch(batch, [&](const LogRecord& record) {
    found = found || record.kind == RecordKind::entry || record.kind == RecordKind::genesis;
    return okStatus();
  });
  return found || !read.ok();
}

Status continueLedger(store::Store& store, const DomainModule& module,
                      const std::function<Status(const LedgerFormat& existing)>& continues) {
  WITAN_TRY(existing, Ledger::readFormat(store));
  if (!existing || existing->rules.empty() || module.ruleText().empty() ||
      existing->domain != module.signature().domain || existing->moduleDigest == toHex(module.digest()))
    return okStatus();
  WITAN_TRY(pruned, prunedLog(store));
  bool decided = pruned.has_value();
  if (!decided)
    WITAN_DO(store.scan("l", {}, [&](std::string_view, std::string_view value) {
      decided = holdsDecision(value);
      return !decided;
    }));
  if (decided && !continues(*existing).ok()) return okStatus();
  WITAN_TRY(earlier, earlierFormats(store));
  store::WriteBatch batch;
  batch.put(concat(kEarlierPrefix, bigEndian(earlier.size())), formatText(*existing));
  batch.put(kFormatKey, formatText(formatOf(module, existing->origin)));
  return store.writeSynced(batch);
}

Result<std::unique_ptr<Ledger>> Ledger::open(store::Store& store, const DomainModule& module, LedgerOptions options) {
  std::unique_ptr<Ledger> ledger(new Ledger(store));
  WITAN_TRY(existing, readFormat(store));
  const LedgerFormat wanted = formatOf(module, options.origin);
  WITAN_TRY(any, store.last("l"));
  WITAN_TRY(pruned, prunedLog(store));
  // Without a batch it means nothing yet: it takes the rules of today.
  if (existing && !any && !pruned && existing->domain == wanted.domain && existing->moduleDigest != wanted.moduleDigest)
    existing.reset();
  if (existing) {
    if (existing->domain != wanted.domain)
      return conflict("the ledger is of domain \"" + existing->domain + "\", not \"" + wanted.domain + "\"",
                      "name that domain or another store");
    if (existing->moduleDigest != wanted.moduleDigest)
      return Error{
          ErrorCode::conflict,
          concat("the ledger was written under another policy or version of domain \"", wanted.domain, "\""),
          "give the same policy (see the store's format: witan ledger checkpoint --json) or start a new store"};
    if (existing->invariants != wanted.invariants)
      return badFormat("its invariants are not those of its module digest");
    ledger->format_ = *existing;
  } else {
    if (any) return corrupt("the store holds a log but no format record");
    ledger->format_ = wanted;
    store::WriteBatch batch;
    batch.put(kFormatKey, formatText(wanted));
    WITAN_DO(store.writeSynced(batch));
  }
  WITAN_TRY(heads, ledger->headsToExtend(options));
  WITAN_DO(ledger->restore(module, options));
  WITAN_DO(ledger->foldAll(heads));
  return ledger;
}

// The newest in the store and the one from outside. The store's is not verified here: who forges it, and the log with
// it, is noticed by the one from outside.
Result<std::vector<SignedHead>> Ledger::headsToExtend(const LedgerOptions& options) const {
  std::vector<SignedHead> heads;
  WITAN_TRY(newest, store_.last("c"));
  if (newest) {
    auto parsed = parseCheckpointText(std::string_view(newest->second).substr(0, newest->second.find("\n\n") + 1));
    if (!parsed) return corrupt("the newest signed checkpoint in the store: " + parsed.error().message);
    heads.push_back({*std::move(parsed), "a signed checkpoint"});
  }
  if (options.signedHead) heads.push_back(*options.signedHead);
  WITAN_TRY(earlier, earlierFormats(store_));
  for (const SignedHead& head : heads) {
    if (head.checkpoint.origin != format_.origin)
      return corrupt(head.where + " is of the log " + head.checkpoint.origin + ", the store holds " + format_.origin,
                     "restore the store from a copy");
    WITAN_DO(agreesWith(format_, earlier, head.checkpoint, head.where));
  }
  return heads;
}

Status Ledger::checkHead(const SignedHead& head) const {
  const std::uint64_t size = head.checkpoint.size;
  if (size > partition_->size())
    return corrupt(
        head.where + " speaks of more than the " + std::to_string(partition_->size()) + " entries that are left",
        "acknowledged entries were lost: restore the store from a copy");
  WITAN_TRY(root, rootOf(size));
  if (root == head.checkpoint.root) return okStatus();
  return corrupt("the log is not the one that was signed: its first " + std::to_string(size) +
                     " entries have another root than " + head.where,
                 "entries were altered: find them with witan ledger verify, and restore the store from a copy");
}

namespace {

// Large states are written less often: together they are about as many bytes as the log.
std::uint64_t entriesSpared(std::uint64_t bytes) {
  return std::max(bytes / kBytesAnEntry, kSnapshotEvery) - kSnapshotEvery;
}

}  // namespace

// From the snapshot if there is a good one, else from nothing; of a pruned log from what stands for its old entries.
Status Ledger::restore(const DomainModule& module, const LedgerOptions& options) {
  PartitionOptions partition = options.partition;
  partition.snapshots = true;
  const auto goOnFrom = [&](std::uint64_t batches) -> Status {
    WITAN_DO(restoreEpochStarts());
    snapshotBatches_ = batches;
    std::uint64_t bytes = 0;
    WITAN_DO(store_.scan(kSnapshotEntityPrefix, {}, [&](std::string_view, std::string_view value) {
      bytes += value.size();
      return true;
    }));
    snapshotEntries_ = partition_->size() + entriesSpared(bytes);
    recovery_.snapshotBatches = snapshotBatches_;
    return okStatus();
  };
  WITAN_TRY(pruned, prunedLog(store_));
  if (pruned) prunedBatches_ = pruned->batches, prunedEntries_ = pruned->entries;
  partition_ = std::make_unique<Partition>(module, partition, this);
  const auto batches = partition_->restoreSnapshot(store_, firstSeqs_);
  if (batches.ok() && !*batches && !pruned) return okStatus();
  if (batches.ok() && *batches && (!pruned || **batches >= pruned->batches)) {
    auto newest = store_.get(batchKey(**batches - 1));
    if ((newest.ok() && *newest) || (pruned && **batches == pruned->batches)) return goOnFrom(**batches);
  }
  // Derived data that is not what was written is thrown away: the log alone is the truth.
  store::WriteBatch rows;
  WITAN_DO(store_.scan("s/", {}, [&](std::string_view key, std::string_view) {
    rows.erase(key);
    return true;
  }));
  if (pruned)
    WITAN_DO(
        forEachStateRow(store_, *pruned, [&](std::string_view key, std::string_view value) { rows.put(key, value); }));
  WITAN_DO(store_.write(rows));
  firstSeqs_.clear();
  partition_ = std::make_unique<Partition>(module, partition, this);
  if (!pruned) return okStatus();
  WITAN_TRY(earlier, earlierModules(store_));
  const auto again = partition_->restoreSnapshot(store_, firstSeqs_, earlier);
  if (!again.ok() || *again != pruned->batches || partition_->size() != pruned->entries)
    return corrupt(
        "what stands for the pruned entries is damaged" + (again.ok() ? std::string() : ": " + again.error().message),
        "restore the store from a copy");
  WITAN_DO(checkPrunedState(store_, *pruned, partition_->tree().root(), format_.origin, std::nullopt));
  return goOnFrom(pruned->batches);
}

Status Ledger::snapshotIfDue(std::uint64_t entries) {
  if (partition_->hasOpenBatch() || partition_->size() < snapshotEntries_ + entries ||
      firstSeqs_.size() == snapshotBatches_)
    return okStatus();
  store::WriteBatch out;
  partition_->stageSnapshot(
      firstSeqs_.size(), {firstSeqs_.begin() + static_cast<std::ptrdiff_t>(snapshotBatches_), firstSeqs_.end()}, out);
  WITAN_DO(store_.write(out));
  snapshotBatches_ = firstSeqs_.size();
  snapshotEntries_ = partition_->size() + entriesSpared(out.bytes());
  return okStatus();
}

Status Ledger::foldAll(std::vector<SignedHead> heads) {
  Status status = okStatus();
  std::optional<std::pair<LogBatchInfo, std::string>> torn;
  WITAN_DO(store_.scan("l", batchKey(firstSeqs_.size()), [&](std::string_view key, std::string_view value) {
    const std::uint64_t number = firstSeqs_.size();
    if (key != batchKey(number))
      status = corrupt(concat("batch ", number, " of the log is missing"));
    else if (torn)
      status = corrupt(concat("batch ", number - 1, " of the log is torn but not the last"));
    if (!status.ok()) return false;
    const std::uint64_t firstSeq = partition_->size() + 1;
    auto info = partition_->fold(value);
    if (!info) {
      status = info.error();
      return false;
    }
    firstSeqs_.push_back(firstSeq);
    noteEpochs();
    // A head that is met on the way needs no second reading of the log.
    std::erase_if(heads, [&](const SignedHead& head) {
      return head.checkpoint.size == partition_->size() && head.checkpoint.root == partition_->tree().root();
    });
    if (info->torn) torn.emplace(*info, std::string(value));
    return true;
  }));
  if (!status.ok()) return status;
  for (const SignedHead& head : heads) WITAN_DO(checkHead(head));  // before a torn tail is cut: it may be evidence
  if (torn) {
    recovery_.cutTornTail = true;
    recovery_.recordsKept = torn->first.records;
    store::WriteBatch batch;
    const std::string key = batchKey(firstSeqs_.size() - 1);
    if (torn->first.records == 0) {
      batch.erase(key);
      firstSeqs_.pop_back();
    } else {
      batch.put(key, cutTornBatch(torn->second, torn->first));
    }
    WITAN_DO(store_.writeSynced(batch));
  }
  recovery_.batches = firstSeqs_.size();
  recovery_.entries = partition_->size();
  return okStatus();
}

void Ledger::stage(store::WriteBatch& out) {
  if (!partition_->hasOpenBatch()) return;
  Partition::Batch batch = partition_->takeBatch();
  out.put(batchKey(firstSeqs_.size()), batch.value);
  firstSeqs_.push_back(batch.firstSeq);
  noteEpochs();
  partition_->reuse(std::move(batch));
}

// The batch that came last is where every epoch begins that has no beginning yet.
void Ledger::noteEpochs() {
  while (epochStarts_.size() < partition_->epochs().size()) epochStarts_.push_back(firstSeqs_.size() - 1);
}

// A snapshot knows the epochs but not their batches: each opens the last batch that starts after its entries.
Status Ledger::restoreEpochStarts() {
  WITAN_TRY(pruned, prunedLog(store_));
  epochStarts_.clear();
  if (pruned)
    for (const EpochStart& epoch : pruned->epochs) epochStarts_.push_back(epoch.batch);
  const auto& epochs = partition_->epochs();
  if (epochStarts_.size() > epochs.size()) return corrupt("what stands for the pruned entries names too many epochs");
  for (const EpochRecord& epoch : std::span(epochs).subspan(epochStarts_.size())) {
    auto at = std::ranges::lower_bound(firstSeqs_.begin() + static_cast<std::ptrdiff_t>(prunedBatches_),
                                       firstSeqs_.end(), epoch.entries + 1);
    bool found = false;
    for (; at != firstSeqs_.end() && *at == epoch.entries + 1 && !found; ++at) {
      const auto number = static_cast<std::uint64_t>(at - firstSeqs_.begin());
      WITAN_TRY(value, batch(number));
      WITAN_TRY(info, readLogBatch(value, [&](const LogRecord& record) -> Status {
                  if (record.kind != RecordKind::epoch) return okStatus();
                  EpochRecord here;
                  WITAN_DO(readMessage(record.payload, here, "epoch"));
                  found = found || epochOf(here) == epochOf(epoch);
                  return okStatus();
                }));
      (void)info;
      if (found) epochStarts_.push_back(number);
    }
    if (!found) return corrupt(concat("the log does not hold the beginning of epoch ", epoch.number));
  }
  return okStatus();
}

Result<std::string> Ledger::batch(std::uint64_t number) const {
  WITAN_CHECK(number < batches(), "a batch that is there");
  if (const auto fresh = unwritten_.find(number); fresh != unwritten_.end()) return fresh->second;
  WITAN_TRY(value, store_.get(batchKey(number)));
  if (value) return *std::move(value);
  WITAN_TRY(pruned, prunedLog(store_));
  if (pruned && number < pruned->batches) return isPruned(*pruned);
  return corrupt(concat("batch ", number, " of the log is missing"));
}

Status Ledger::follow(std::string_view value, store::WriteBatch& out) {
  WITAN_CHECK(!partition_->hasOpenBatch(), "a follower decides nothing");
  const std::uint64_t firstSeq = partition_->size() + 1;
  WITAN_TRY(info, partition_->fold(value, Fold::checked));
  if (info.torn) return corrupt("a batch from another device is cut short");
  out.put(batchKey(firstSeqs_.size()), value);
  unwritten_.emplace(firstSeqs_.size(), value);
  firstSeqs_.push_back(firstSeq);
  noteEpochs();
  return okStatus();
}

// The last batch that starts at or before it: those without entries start where the next one does.
std::uint64_t Ledger::batchOf(std::uint64_t seq) const {
  const auto at = std::ranges::upper_bound(firstSeqs_, seq);
  WITAN_CHECK(at != firstSeqs_.begin(), "the first batch starts at entry 1");
  return static_cast<std::uint64_t>(at - firstSeqs_.begin()) - 1;
}

Status Ledger::stageTruncation(std::uint64_t number, store::WriteBatch& out) const {
  for (std::uint64_t n = number; n < batches(); ++n) out.erase(batchKey(n));
  // Snapshots and checkpoints may know too much; the log alone is the truth.
  const std::string after = checkpointKey(number < batches() ? firstSeqs_[number] : partition_->size() + 1);
  const auto erase = [&](std::string_view key, std::string_view) {
    out.erase(key);
    return true;
  };
  WITAN_DO(store_.scan("s/", {}, erase));
  return store_.scan("c", after, erase);
}

Status Ledger::commit() {
  if (!partition_->hasOpenBatch()) return okStatus();
  store::WriteBatch batch;
  stage(batch);
  return store_.writeSynced(batch);
}

Status Ledger::checkpoint(const SigningKey& key, Time now) {
  WITAN_CHECK(!partition_->hasOpenBatch(), "a checkpoint speaks of committed entries only");
  const std::string at = checkpointKey(partition_->size());
  WITAN_TRY(known, store_.get(at));
  if (known) return okStatus();
  Checkpoint checkpoint{format_.origin, partition_->size(), partition_->tree().root(), format_.checkpointLines()};
  checkpoint.extensions.push_back("time " + formatTime(now));
  WITAN_TRY(note, signCheckpoint(checkpoint, key));
  store::WriteBatch batch;
  batch.put(at, note);
  return store_.writeSynced(batch);
}

Status Ledger::forEachLeaf(std::uint64_t size, const std::function<void(const Hash&)>& visit) const {
  std::uint64_t seen = 0;
  WITAN_TRY(pruned, prunedLog(store_));
  if (pruned)
    WITAN_DO(forEachPrunedLeaf(store_, *pruned, [&](const Hash& leaf) {
      if (seen < size) visit(leaf), ++seen;
      return okStatus();
    }));
  for (std::uint64_t number = pruned ? pruned->batches : 0; seen < size; ++number) {
    WITAN_TRY(value, batch(number));
    WITAN_TRY(info, readLogBatch(value, [&](const LogRecord& record) {
                if (record.kind == RecordKind::entry && seen < size) visit(record.leaf), ++seen;
                return okStatus();
              }));
    (void)info;
  }
  return okStatus();
}

Result<MemoryTree> Ledger::treeOf(std::uint64_t size) const {
  MemoryTree tree;
  WITAN_DO(forEachLeaf(size, [&](const Hash& leaf) { tree.append(leaf); }));
  return tree;
}

Result<Hash> Ledger::rootOf(std::uint64_t size) const {
  if (size == partition_->size()) return partition_->tree().root();
  MerkleFrontier tree;
  WITAN_DO(forEachLeaf(size, [&](const Hash& leaf) { tree.append(leaf); }));
  return tree.root();
}

Result<std::string> Ledger::entryBytes(std::uint64_t seq) {
  if (seq == 0 || seq > partition_->size()) return notFound(concat("no entry ", seq));
  const std::uint64_t number = batchOf(seq);
  if (number != cachedBatch_) {
    WITAN_TRY(value, batch(number));
    cachedEntries_.clear();
    cachedBatch_ = ~std::uint64_t{0};
    WITAN_TRY(info, readLogBatch(value, [&](const LogRecord& record) {
                if (record.kind == RecordKind::entry) cachedEntries_.emplace_back(record.payload);
                return okStatus();
              }));
    (void)info;
    cachedBatch_ = number;
  }
  const std::uint64_t offset = seq - firstSeqs_[number];
  if (offset >= cachedEntries_.size()) return corrupt(concat("entry ", seq, " is not where it should be"));
  return cachedEntries_[offset];
}

}  // namespace witan::kernel
