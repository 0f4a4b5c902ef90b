#include "replica/core/entry_evidence.h"

#include <algorithm>

#include "base/bytes.h"
#include "domains/registry.h"
#include "kernel/lint.h"
#include "kernel/record/fork_proof.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "kernel/record/statement.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_proofs.h"
#include "replica/core/partition_host.h"
#include "replica/core/row_proofs.h"
#include "replication/writer.h"
#include "rules/domain/versions.h"
#include "store/memory_store.h"

namespace witan::node {

namespace {

Error bad(std::string_view why) { return invalid(concat("evidence: ", why)); }

std::string nameOffence(std::string_view cluster, std::string_view domain, const auto& record,
                        std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                        std::string& kind) {
  kind = "unsigned";
  if (record.proof.empty()) return concat("bears no signature of ", record.device);
  kind = "forgedName";
  if (!kernel::holdsProof(cluster, domain, record, memo))
    return concat("bears a signature in the name of ", record.device, " that does not hold");
  const PublicKey by = kernel::readProof(record.proof)->key;
  if (std::ranges::find(ownerKeys, by) != ownerKeys.end() && record.device != ownerDevice)
    return concat("is signed by its owner in the name of ", record.device);
  return {};
}

// A batch under its owner's seal, as a file holds it.
class SealedBatch {
 public:
  explicit SealedBatch(const EntryEvidence& evidence) : e_(evidence) {}

  Status open() {
    WITAN_SET(key, kernel::parseVerifierKey(e_.key));
    if (key.type != kernel::NoteKeyType::signature) return bad("the key is that of a witness");
    const std::size_t slash = key.name.rfind('/'), first = key.name.find('/');
    if (first == std::string::npos || slash == first) return bad("the key's name is no device's");
    cluster = key.name.substr(first + 1, slash - first - 1), device = key.name.substr(slash + 1);
    WITAN_TRY(sealBytes, fromBase64(e_.seal));
    WITAN_DO(readMessage(sealBytes, seal, "seal"));
    WITAN_SET(value, fromBase64(e_.batch));
    if (replication::deviceOf(seal.owner) != device) return bad("the seal is of another device");
    if (seal.format < kernel::kSignedFormat) return bad("the batch is of an epoch without proofs");
    if (seal.value != sha256(value) || !holdsSeal(cluster, e_.partition, seal, {&key.publicKey, 1}, memo))
      return bad("the seal does not hold");
    return okStatus();
  }

  std::string domain() const { return e_.partition.substr(0, e_.partition.find('/')); }

  Status visit(const std::function<Status(const kernel::LogRecord&)>& each) const {
    WITAN_TRY(words, alignedWords(value));
    const auto read = kernel::readLogBatch({reinterpret_cast<const char*>(words.data()), value.size()}, each);
    return read.ok() ? okStatus() : Status(read.error());
  }

  ProvenOffence offence(std::string what) const {
    return {
        key, e_.partition,
        concat(key.name, " sealed ", e_.entity ? concat("the beginning of ", *e_.entity) : concat("entry ", e_.entry),
               " of ", e_.partition, " in epoch ", seal.number, ", and ", what),
        e_.kind};
  }

  kernel::NoteVerifier key;
  std::string cluster, device, value;
  BatchSeal seal;
  kernel::SignatureMemo memo;

 private:
  const EntryEvidence& e_;
};

Result<ProvenOffence> verifyName(const EntryEvidence& e, SealedBatch& batch) {
  std::string why, kind;
  const std::string domain = batch.domain();
  const auto judge = [&](const auto& record) {
    why = offenceOf(batch.cluster, domain, record, {&batch.key.publicKey, 1}, batch.device, batch.memo, kind);
  };
  WITAN_DO(batch.visit([&](const kernel::LogRecord& record) -> Status {
    if (!why.empty()) return okStatus();
    if (record.kind == kernel::RecordKind::entry && !e.entity) {
      WITAN_TRY(entry, kernel::readEntryView(record.payload));
      if (entry.seq == e.entry) judge(entry);
    } else if (record.kind == kernel::RecordKind::genesis && e.entity &&
               batch.seal.format >= kernel::kSignedBeginnings) {
      WITAN_TRY(beginning, kernel::readGenesis(record.payload));
      if (beginning.entity == *e.entity) judge(beginning);
    }
    return okStatus();
  }));
  if (why.empty() || kind != e.kind) return bad("the entry may be in order");
  return batch.offence("it proves that nobody asked for it: it " + why);
}

// The head, by the same device and of the same epoch, names the rules of this module. The result: what it says. The
// rules of a file may get a later version in the middle of an epoch, so it names them for the entries that it covers;
// and after these there is no earlier version.
Result<kernel::Checkpoint> headUnder(const EntryEvidence& e, const SealedBatch& batch,
                                     const kernel::LedgerFormat& rules) {
  if (!e.head) return bad("it holds no head, which names the owner's rules");
  WITAN_TRY(note, kernel::openNote(*e.head, {&batch.key, 1}));
  WITAN_TRY(checkpoint, kernel::parseCheckpointText(note.text));
  const LogName log{e.partition, batch.seal.epoch()};
  if (logOfOrigin(batch.cluster, checkpoint.origin) != log) return bad("the head is of another log");
  if (!namesRules(checkpoint, rules))
    return notFound("evidence: its owner has other rules than are here", "give the rules that it names");
  return checkpoint;
}

// Every batch before is in order, and the last one is not. A rule file stands in the format itself: it may be of
// another version than the one that is here.
Result<ProvenOffence> verifyUnlawful(const EntryEvidence& e, const SealedBatch& batch, const ModuleOf& moduleOf) {
  if (!e.format) return bad("it holds no format record");
  WITAN_TRY(record, fromBase64(*e.format));
  store::MemoryStore store, formats;
  store::WriteBatch row;
  row.put("format", record);
  WITAN_DO(formats.write(row));
  WITAN_TRY(format, kernel::Ledger::readFormat(formats));
  const kernel::DomainModule* module = moduleOf && format->domain == batch.domain() ? moduleOf(*format) : nullptr;
  if (module == nullptr) return notFound("evidence: the rules of " + batch.domain() + " are not here");
  std::unique_ptr<kernel::DomainModule> itsVersion;
  if (!module->ruleText().empty() && format->moduleDigest != toHex(module->digest())) {
    WITAN_SET(itsVersion, domains::domainOf(*format));
    module = itsVersion.get();
  }
  WITAN_TRY(host, PartitionHost::open(store, *module, {e.partition, batch.cluster + "/" + e.partition, 0, true}));
  WITAN_TRY(head, headUnder(e, batch, host->ledger().format()));
  for (const FileBytes& text : e.before ? *e.before : std::vector<FileBytes>()) {
    WITAN_TRY(before, fromBase64(text));
    store::WriteBatch rows;
    if (!host->follow(before, rows).ok()) return bad("the log before the batch is not in order");
    WITAN_DO(store.write(rows));
  }
  if (batch.seal.batches != host->ledger().batches() + 1 ||
      batch.seal.chain != chained(host->chain().last(), batch.value))
    return bad("the seal is of another log");
  std::uint64_t size = host->partition().size();
  const auto root = host->ledger().rootOf(std::min(head.size, size));
  const bool extends = head.size <= size && root.ok() && *root == head.root;
  VersionWatch watch(*module, VersionWatch::reachedIn(*host), size, extends ? std::optional(head) : std::nullopt);
  std::string back;
  bool byHead = false;
  WITAN_DO(batch.visit([&](const kernel::LogRecord& one) -> Status {
    size += one.kind == kernel::RecordKind::entry ? 1 : 0;
    if (back.empty()) {
      WITAN_SET(back, watch.objection(one));
      byHead = watch.isByHead();
    }
    return okStatus();
  }));
  if (!byHead && !format->rules.empty() && size > head.size)
    return notFound("evidence: the head is of before the batch, whose rules may be later ones");
  if (!back.empty()) return batch.offence(back);
  store::WriteBatch rows;
  const Status taken = host->follow(batch.value, rows);
  if (taken.ok() || taken.error().code != ErrorCode::unauthorised) return bad("the rules give the batch");
  return ProvenOffence{
      batch.key, e.partition,
      concat(batch.key.name, " sealed batch ", batch.seal.batches - 1, " of ", e.partition, " in epoch ",
             batch.seal.number, ", which the rules that it signed do not give: ", taken.error().message),
      e.kind};
}

Result<ProvenOffence> verifyAnswer(const EntryEvidence& e, SealedBatch& batch) {
  if (!e.answer || !e.proof) return bad("it holds no answer");
  WITAN_TRY(told, fromBase64(*e.answer));
  WITAN_TRY(bytes, fromHex(*e.proof));
  WITAN_TRY(proof, kernel::readProof(asBytes(bytes)));
  const Hash leaf = kernel::leafHash(told);
  const BatchSeal& seal = batch.seal;
  if (seal.format < kernel::kSignedBeginnings || seal.run == 0) return bad("its owner's disk may have gone back");
  const Hash holding =
      kernel::holdingLeaf(batch.cluster, e.partition, seal.number, seal.owner, seal.run, e.entry, leaf);
  if (proof.key != batch.key.publicKey || !batch.memo.holds(batch.cluster, holding, proof))
    return bad("its owner did not tell that, or in another run");
  bool another = false;
  WITAN_DO(batch.visit([&](const kernel::LogRecord& record) -> Status {
    if (record.kind != kernel::RecordKind::entry) return okStatus();
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    another = another || (entry.seq == e.entry && record.leaf != leaf);
    return okStatus();
  }));
  if (!another) return bad("its owner told of the entry that it sealed");
  return batch.offence("told a device of another one in the same run");
}

}  // namespace

bool namesRules(const kernel::Checkpoint& head, const kernel::LedgerFormat& rules) {
  return std::ranges::all_of(rules.checkpointLines(), [&](const std::string& line) {
    return std::ranges::find(head.extensions, line) != head.extensions.end();
  });
}

std::int64_t VersionWatch::reachedIn(const PartitionHost& host) {
  std::int64_t reached = 1;
  if (rules::versionOf(host.module()) > 1)
    for (const std::string& entity : host.partition().entities())
      reached = std::max(reached, rules::versionOf(host.module(), *host.partition().state(entity)));
  return reached;
}

Result<std::string> VersionWatch::objection(const kernel::LogRecord& record) {
  const auto member = [](std::string_view text, std::string_view name) {
    auto parsed = parseJson(text, {.bytes = kernel::kRecordMax, .depth = 64});
    json::value* found = parsed.ok() && parsed->is_object() ? parsed->get_object().if_contains(name) : nullptr;
    return found == nullptr ? json::value() : std::move(*found);
  };
  std::int64_t version = reached_;
  std::string what;
  byHead_ = false;
  if (record.kind == kernel::RecordKind::epoch) named_.reset();
  if (record.kind == kernel::RecordKind::entry) {
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    ++entries_;
    if (entry.writes.find(kernel::kRulesVersionField) == std::string_view::npos) return std::string();
    const json::value moved = member(entry.writes, kernel::kRulesVersionField);
    if (moved.is_int64()) version = moved.get_int64();
    what = concat("entry ", entry.seq, " moves ", entry.entity, " on to");
  }
  if (record.kind == kernel::RecordKind::genesis) {
    WITAN_TRY(beginning, kernel::readGenesis(record.payload));
    const json::value state = member(beginning.genesis, "state");
    if (!state.is_object()) return std::string();
    const auto entity = module_.readState(state.get_object());
    if (!entity.ok()) return std::string();
    version = rules::versionOf(module_, **entity);
    byHead_ = named_ && entries_ > named_->size && version < rules::versionOf(module_);
    what = concat("the entity \"", beginning.entity, "\" begins under");
  }
  const bool back = version < reached_;
  reached_ = std::max(reached_, version);
  if (byHead_)
    return concat(what, " version ", version, " of the rules, and its owner signed that it had version ",
                  rules::versionOf(module_), " after ", named_->size, " entries");
  return back ? concat(what, " version ", version, " of the rules, after version ", reached_) : std::string();
}

std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::EntryView& entry,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind) {
  if (!kernel::hasProposer(entry)) return {};
  if (std::string why = nameOffence(cluster, domain, entry, ownerKeys, ownerDevice, memo, kind); !why.empty())
    return why;
  const auto word = kernel::personsWord(kernel::statementOf(cluster, domain, entry), entry.signature);
  if (word && !word->signature.empty() && !word->holds(memo))
    return concat("the answer's signature in the name of ", word->person, " does not hold");
  return {};
}

std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::GenesisView& beginning,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind) {
  return nameOffence(cluster, domain, beginning, ownerKeys, ownerDevice, memo, kind);
}

Result<ProvenOffence> verifyEvidence(std::string_view file, const ModuleOf& moduleOf) {
  WITAN_TRY(parsed, parseJson(file, {.bytes = kMaxEntryEvidence, .depth = 4}));
  const json::value* kind = parsed.is_object() ? parsed.get_object().if_contains("kind") : nullptr;
  if (kind != nullptr && kind->is_string() && kind->get_string() == "fork") {
    WITAN_TRY(fork, kernel::verifyForkProof(file));
    // A device signs more than heads, and one may be made to look like another.
    if (!signsLog(fork.signer, fork.origin)) return bad("the key signs no heads of this log");
    return ProvenOffence{std::move(fork.signer), std::move(fork.origin), std::move(fork.what), "fork"};
  }
  if (kind != nullptr && kind->is_string() && kind->get_string() == "forgedRow") return verifyRowEvidence(parsed);
  EntryEvidence evidence;
  WITAN_DO(readJson(parsed, evidence, "evidence"));
  SealedBatch batch(evidence);
  WITAN_DO(batch.open());
  if (evidence.kind == "unsigned" || evidence.kind == "forgedName") return verifyName(evidence, batch);
  if (evidence.kind == "unlawful") return verifyUnlawful(evidence, batch, moduleOf);
  return evidence.kind == "falseAnswer" ? verifyAnswer(evidence, batch) : bad("of an unknown kind");
}

}  // namespace witan::node
