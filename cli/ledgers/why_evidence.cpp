#include "cli/ledgers/why_evidence.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/ledgers/node_ledgers.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/merkle.h"
#include "kernel/record/statement.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/store_dir.h"
#include "node/inbox/inbox_answers.h"

namespace witan::node {

using operations::Why;
using operations::WhyKind;
using operations::WhyLink;

WITAN_STRUCT(ProvenEntry, (std::string, entry, "DOMAIN/NUMBER:SEQ, as the chain has it"),
             (std::string, bytes, "Its bytes in base64"), (std::vector<std::string>, path, "Audit path, in hex"),
             (std::string, head, "DOMAIN/NUMBER, of `heads`"))
WITAN_STRUCT(WhyEvidence, (std::vector<ProvenEntry>, entries, "Entries of ledgers"),
             (ByName<std::string>, heads, "Signed heads by DOMAIN/NUMBER"))

namespace {

constexpr std::string_view kWhyNote = "witan-why/1 ";  // no head, order or statement of a copy begins so

struct EntryId {
  std::string partition;
  std::uint64_t seq = 0;
};

Result<EntryId> entryIdOf(const WhyLink& link) {
  const std::size_t colon = std::min(link.id.rfind(':'), link.id.size());
  const char* const end = link.id.data() + link.id.size();
  std::uint64_t seq = 0;
  const auto [stop, failure] = std::from_chars(std::min(link.id.data() + colon + 1, end), end, seq);
  if (failure != std::errc() || stop != end || seq == 0) return invalid(inQuotes(link.id) + " is no entry of a ledger");
  return EntryId{link.id.substr(0, colon), seq};
}

// One head proves all entries of its ledger: the newest cosigned one, if it covers them.
Result<LedgerHead> headCovering(NodeLedgers& ledgers, const std::string& partition, std::uint64_t seq) {
  auto head = ledgers.head(partition, false);
  if (!head.ok() || head->size < seq) head = ledgers.head(partition, true);
  if (head.ok() && head->size < seq)
    return conflict(concat("the newest head covers ", head->size, " of ", head->entries, " entries of ", partition),
                    "its owner signs the rest soon");
  return head;
}

Result<WhyEvidence> evidenceOf(const std::filesystem::path& dir, const Why& chain) {
  std::map<std::string, std::uint64_t> newest;  // by partition
  for (const WhyLink& link : chain.links) {
    if (link.kind != WhyKind::decision) continue;
    WITAN_TRY(id, entryIdOf(link));
    newest[id.partition] = std::max(newest[id.partition], id.seq);
  }
  WhyEvidence evidence;
  if (newest.empty()) return evidence;
  LedgerChoice choice;
  choice.dir = dir.string();
  WITAN_TRY(ledgers, NodeLedgers::open(choice));
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& [partition, seq] : newest) {
    WITAN_TRY(head, headCovering(*ledgers, partition, seq));
    sizes[partition] = head.size, evidence.heads[partition] = head.note;
  }
  for (const WhyLink& link : chain.links) {
    if (link.kind != WhyKind::decision) continue;
    WITAN_TRY(id, entryIdOf(link));
    WITAN_TRY(proof, ledgers->proof(id.partition, id.seq, sizes.at(id.partition), 0));
    evidence.entries.push_back({link.id, proof.bytes, proof.path, id.partition});
  }
  WITAN_DO(ledgers->close());
  return evidence;
}

// A head that the owner of that ledger signed. Any one device could cosign what it likes.
Result<kernel::Checkpoint> headOf(const WhyEvidence& evidence, const std::string& partition, std::string_view cluster,
                                  std::span<const kernel::NoteVerifier> keys) {
  const auto note = evidence.heads.find(partition);
  if (note == evidence.heads.end()) return invalid("no head of " + partition);
  const auto refused = [&](std::string_view why) {
    return Error{ErrorCode::unauthorised, concat("the head of ", partition, ": ", why),
                 "give device.vkey of its owner as well: --vkey FILE"};
  };
  auto opened = kernel::openNote(note->second, keys);
  if (!opened.ok()) return refused(opened.error().message);
  WITAN_TRY(head, kernel::parseCheckpointText(opened->text));
  const auto log = logOfOrigin(cluster, head.origin);
  if (!log || log->partition != partition)
    return invalid("the head that is given for " + partition + " is of another log");
  if (std::ranges::none_of(opened->verifiedBy,
                           [&](const kernel::NoteVerifier& key) { return signsLog(key, head.origin); }))
    return refused("none of the given keys that signed it is that of its log's owner");
  return head;
}

// By whom it is said to be proposed.
Status checkProposer(const kernel::EntryView& entry, std::string_view cluster, std::string_view domain,
                     std::span<const kernel::NoteVerifier> keys) {
  if (!kernel::hasProposer(entry)) return okStatus();
  kernel::SignatureMemo memo;
  const auto proof = kernel::readProof(entry.proof);
  if (!proof.ok() || !kernel::holdsProof(cluster, domain, entry, memo))
    return corrupt(concat("the signature of its proposer ", entry.device, " does not hold"));
  if (kernel::deviceOfKey(proof->key) == entry.device) return okStatus();
  const auto of = [&](const kernel::NoteVerifier& key) { return deviceOfKeyName(cluster, key.name) == entry.device; };
  const bool known = std::ranges::any_of(keys, of);
  if (!known || std::ranges::any_of(keys, [&](const auto& key) { return of(key) && key.publicKey == proof->key; }))
    return okStatus();
  return corrupt(concat("no key of its proposer ", entry.device, " signed it"));
}

// The link says then what the entry says, in the words of this program.
Status checkEntry(WhyLink& link, const ProvenEntry& proven, const kernel::Checkpoint& head, std::string_view cluster,
                  std::span<const kernel::NoteVerifier> keys) {
  const auto wrong = [&](std::string_view why) { return corrupt(concat("entry ", link.id, ": ", why)); };
  WITAN_TRY(id, entryIdOf(link));
  WITAN_TRY(bytes, fromBase64(proven.bytes));
  std::vector<Hash> path;
  for (const std::string& hex : proven.path) {
    WITAN_TRY(hash, hashFromHex(hex));
    path.push_back(hash);
  }
  const Hash leaf = kernel::leafHash(bytes);
  if (!kernel::verifyInclusion(leaf, id.seq - 1, head.size, path, head.root))
    return wrong("its path does not lead to the root of the signed head");
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);  // aligned
  std::memcpy(words.data(), bytes.data(), bytes.size());
  WITAN_TRY(entry, kernel::readEntryView({reinterpret_cast<const char*>(words.data()), bytes.size()}));
  const std::string domain = id.partition.substr(0, id.partition.find('/'));
  if (const Status proposed = checkProposer(entry, cluster, domain, keys); !proposed.ok())
    return wrong(proposed.error().message);
  WhyLink told = operations::decisionLink(id.partition, entry, leaf);
  told.causes = link.causes;
  told.what.swap(link.what);  // another version of this program has other words
  if (toJson(told) != toJson(WhyLink{link.kind, link.id, link.at, told.what, link.causes, link.detail}))
    return wrong("the chain tells it otherwise than the ledger has it");
  return okStatus();
}

// `signer`: the name of the key that signed the chain, "witan/CLUSTER/DEVICE".
Result<std::size_t> checkEntries(Why& chain, const WhyEvidence& evidence, std::string_view signer,
                                 std::span<const kernel::NoteVerifier> keys) {
  const std::size_t from = std::min(signer.find('/'), signer.size() - 1) + 1, to = signer.rfind('/');
  const std::string_view cluster = signer.substr(from, to > from && to != signer.npos ? to - from : 0);
  std::size_t proven = 0;
  for (WhyLink& link : chain.links) {
    if (link.kind != WhyKind::decision) continue;
    const auto at = std::ranges::find(evidence.entries, link.id, &ProvenEntry::entry);
    if (at == evidence.entries.end()) return corrupt("entry " + link.id + ": there is no proof of it");
    WITAN_TRY(id, entryIdOf(link));
    WITAN_TRY(head, headOf(evidence, id.partition, cluster, keys));
    WITAN_DO(checkEntry(link, *at, head, cluster, keys));
    ++proven;
  }
  return proven;
}

// An approval, a choice or a retry that a person signed is what the link is about.
Result<std::vector<std::string>> checkAnswers(const Why& chain) {
  std::set<std::string> persons;
  for (const WhyLink& link : chain.links) {
    const json::object* detail = link.detail.if_object();
    const json::value* said = detail == nullptr ? nullptr : detail->if_contains("answer");
    if (said == nullptr || link.kind == WhyKind::look) continue;
    InboxAnswer answer;
    WITAN_DO(readJson(*said, answer, "the answer in " + link.id));
    const bool fits = link.kind == WhyKind::approval ? answer.item == "approval:" + link.id : answer.by == link.id;
    if (!fits) return corrupt(concat("the answer of ", answer.by, " to ", answer.item, " is not what the chain tells"));
    if (answer.signature.empty()) continue;
    if (!isSignedWell(answer))
      return corrupt(concat("the signature of ", answer.by, " on ", answer.item, " does not hold"));
    persons.insert(concat(answer.by, " (", answer.signature.substr(0, 2 * sizeof(PublicKey)), ")"));
  }
  return std::vector<std::string>(persons.begin(), persons.end());
}

}  // namespace

Result<std::string> signedWhy(const std::filesystem::path& dir, const Why& chain) {
  WITAN_TRY(key, readKey(dir, KeyName::device));
  WITAN_TRY(verifiers, readVerifierKeys({(dir / kDeviceKeysFile).string()}));
  const auto own = std::ranges::find_if(verifiers, [&](const kernel::NoteVerifier& one) {
    return one.publicKey == key.publicKey() && one.type == kernel::NoteKeyType::signature;
  });
  if (own == verifiers.end())
    return notFound(concat(kDeviceKeysFile, " in ", dir.string(), " is not of this device's key"),
                    "start its node once: witan up");
  WITAN_TRY(evidence, evidenceOf(dir, chain));
  const std::string text = concat(kWhyNote, own->name, " at ", formatTime(SystemClock().now()), "\n", toJson(chain),
                                  "\n", toJson(evidence), "\n");
  auto note = kernel::signNote(text, std::array{kernel::NoteSigner{own->name, key}});
  if (!note.ok()) return invalid("the chain cannot be signed: " + note.error().message, "ask for less of it");
  return note;
}

Result<CheckedWhy> checkedWhy(std::string_view text, std::span<const kernel::NoteVerifier> keys) {
  WITAN_TRY(note, kernel::openNote(text, keys));
  const std::size_t first = note.text.find('\n'), second = note.text.find('\n', first + 1);
  CheckedWhy checked;
  checked.head = note.text.substr(0, first);
  const std::string& signer = note.verifiedBy.front().name;
  if (!checked.head.starts_with(concat(kWhyNote, signer, " ")))
    return invalid("its first line is not of a chain that " + signer + " signed");
  if (second == note.text.npos || second + 1 == note.text.size())
    return invalid("it is of a version that proves no entries", "write it again: witan why SUBJECT --signed FILE");
  WITAN_TRY(chain, parseJson(std::string_view(note.text).substr(first + 1, second - first - 1), kOwnJson));
  WITAN_DO(readJson(chain, checked.chain, "the chain"));
  WITAN_TRY(proofs, parseJson(std::string_view(note.text).substr(second + 1), kOwnJson));
  WhyEvidence evidence;
  WITAN_DO(readJson(proofs, evidence, "the proofs"));
  WITAN_SET(checked.proven, checkEntries(checked.chain, evidence, signer, keys));
  WITAN_SET(checked.persons, checkAnswers(checked.chain));
  return checked;
}

}  // namespace witan::node
