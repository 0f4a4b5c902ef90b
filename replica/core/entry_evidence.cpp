#include "replica/core/entry_evidence.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "kernel/record/fork_proof.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/statement.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_proofs.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

Error bad(std::string_view why) { return invalid(concat("evidence: ", why)); }

}  // namespace

std::string offenceOf(std::string_view cluster, std::string_view domain, const kernel::EntryView& entry,
                      std::span<const PublicKey> ownerKeys, std::string_view ownerDevice, kernel::SignatureMemo& memo,
                      std::string& kind) {
  if (!kernel::hasProposer(entry)) return {};
  kind = "unsigned";
  if (entry.proof.empty()) return concat("bears no signature of ", entry.device);
  kind = "forgedName";
  if (!kernel::holdsProof(cluster, domain, entry, memo))
    return concat("its signature in the name of ", entry.device, " does not hold");
  const PublicKey by = kernel::readProof(entry.proof)->key;
  if (std::ranges::find(ownerKeys, by) != ownerKeys.end() && entry.device != ownerDevice)
    return concat("its owner signed it in the name of ", entry.device);
  const auto word = kernel::personsWord(kernel::statementOf(cluster, domain, entry), entry.signature);
  if (word && !word->signature.empty() && !word->holds(memo))
    return concat("the answer's signature in the name of ", word->person, " does not hold");
  return {};
}

Result<ProvenOffence> verifyEntryEvidence(std::string_view file) {
  WITAN_TRY(parsed, parseJson(file, {.bytes = kMaxEntryEvidence, .depth = 4}));
  EntryEvidence evidence;
  WITAN_DO(readJson(parsed, evidence, "evidence"));
  WITAN_TRY(key, kernel::parseVerifierKey(evidence.key));
  if (key.type != kernel::NoteKeyType::signature) return bad("the key is that of a witness");
  const std::size_t slash = key.name.rfind('/'), first = key.name.find('/');
  if (first == std::string::npos || slash == first) return bad("the key's name is no device's");
  const std::string cluster = key.name.substr(first + 1, slash - first - 1), device = key.name.substr(slash + 1);
  WITAN_TRY(sealBytes, fromBase64(evidence.seal));
  BatchSeal seal;
  WITAN_DO(readMessage(sealBytes, seal, "seal"));
  WITAN_TRY(batch, fromBase64(evidence.batch));
  kernel::SignatureMemo memo;
  if (replication::deviceOf(seal.owner) != device) return bad("the seal is of another device");
  if (seal.format < kernel::kSignedFormat) return bad("the batch is of an epoch without proofs");
  if (seal.value != sha256(batch) || !holdsSeal(cluster, evidence.partition, seal, {&key.publicKey, 1}, memo))
    return bad("the seal does not hold");
  WITAN_TRY(words, alignedWords(batch));
  std::string why, kind;
  const std::string domain = evidence.partition.substr(0, evidence.partition.find('/'));
  const auto visit = [&](const kernel::LogRecord& record) -> Status {
    if (record.kind != kernel::RecordKind::entry || !why.empty()) return okStatus();
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    if (entry.seq == evidence.entry) why = offenceOf(cluster, domain, entry, {&key.publicKey, 1}, device, memo, kind);
    return okStatus();
  };
  WITAN_TRY(read, kernel::readLogBatch({reinterpret_cast<const char*>(words.data()), batch.size()}, visit));
  (void)read;
  if (why.empty() || kind != evidence.kind) return bad("the entry may be in order");
  return ProvenOffence{key, evidence.partition,
                       concat(key.name, " sealed entry ", evidence.entry, " of ", evidence.partition, " in epoch ",
                              seal.number, ", and the entry proves that nobody asked for it: it ", why)};
}

Result<ProvenOffence> verifyEvidence(std::string_view file) {
  WITAN_TRY(parsed, parseJson(file, {.bytes = kMaxEntryEvidence, .depth = 4}));
  const json::value* kind = parsed.is_object() ? parsed.get_object().if_contains("kind") : nullptr;
  if (kind == nullptr || !kind->is_string() || kind->get_string() != "fork") return verifyEntryEvidence(file);
  WITAN_TRY(fork, kernel::verifyForkProof(file));
  return ProvenOffence{std::move(fork.signer), std::move(fork.origin), std::move(fork.what)};
}

}  // namespace witan::node
