#include "node/ledgers/held_entry.h"

#include <algorithm>

#include "base/bytes.h"
#include "kernel/record/entry.h"
#include "kernel/record/merkle.h"
#include "replica/head_exchange.h"

namespace witan::node {

namespace {

constexpr std::size_t kLongestPath = 64;  // hashes

Result<Hash> hashOf(std::string_view hex) {
  WITAN_TRY(bytes, fromHex(hex));
  Hash hash{};
  if (bytes.size() != hash.size()) return corrupt("a hash of another length");
  std::ranges::copy(bytes, hash.begin());
  return hash;
}

Result<std::vector<Hash>> pathOf(const std::vector<std::string>& hexes) {
  if (hexes.size() > kLongestPath) return corrupt("a path that is too long");
  std::vector<Hash> path;
  for (const std::string& hex : hexes) {
    WITAN_TRY(hash, hashOf(hex));
    path.push_back(hash);
  }
  return path;
}

Result<LogHead> checkHead(const Replica& replica, const EntryAsk& ask, std::string_view note) {
  WITAN_TRY(head, replica.heads().opened(note));
  if (!head) return corrupt("the head bears no signature of the log's owner by a key that is known here");
  if (head->log.partition != ask.partition) return corrupt("the head is of partition " + head->log.partition);
  const OwnershipRecord* claim = replica.owners().find(ask.partition);
  const kernel::Epoch now = claim == nullptr ? kernel::Epoch{} : claim->epoch();
  if (head->log.epoch != now)
    return unavailable(concat("the newest head is of epoch ", head->log.epoch.number,
                              ", and the partition is in epoch ", now.number, " as far as this device knows"),
                       "ask again when an entry was decided there");
  if (head->cosigners.empty())
    return unavailable("no other device has signed the newest head of its owner", "ask again in a few seconds");
  return *std::move(head);
}

// The root of the tree in which the proof is.
Result<Hash> rootOf(const LogHead& head, const LogHead* known, std::uint64_t size) {
  if (size == head.checkpoint.size) return head.checkpoint.root;
  if (known != nullptr && known->log == head.log && known->checkpoint.size == size) return known->checkpoint.root;
  return unavailable(concat("no head of ", size, " entries was checked here"), "ask for the newest head first");
}

Status checkInclusion(const InclusionProof& proof, const Hash& root) {
  const auto bytes = fromBase64(proof.bytes);
  if (!bytes.ok()) return corrupt("the entry's bytes are no base64");
  WITAN_TRY(entry, kernel::readEntry(*bytes));
  WITAN_TRY(path, pathOf(proof.path));
  const Hash leaf = kernel::leafHash(*bytes);
  if (proof.index != proof.seq - 1 || entry.seq != proof.seq || proof.leafHash != toHex(leaf) ||
      proof.root != toHex(root) || !kernel::verifyInclusion(leaf, proof.index, proof.size, path, root))
    return corrupt(concat("the entry is not number ", proof.seq, " of the head's tree"));
  return okStatus();
}

Status checkConsistency(const InclusionProof& proof, std::uint64_t since, const Hash& root) {
  if (since == 0) return okStatus();
  WITAN_TRY(first, hashOf(proof.firstRoot.value_or("")));
  WITAN_TRY(path, pathOf(proof.consistency.value_or(std::vector<std::string>{})));
  if (!kernel::verifyConsistency(since, proof.size, first, root, path))
    return corrupt(concat("the tree of ", since, " entries is not where this one comes from"));
  return okStatus();
}

}  // namespace

EntryTold tellEntry(Replica& replica, const EntryAsk& ask) {
  EntryTold told{ask.id};
  const auto answer = [&]() -> Status {
    WITAN_TRY(head, headOf(replica, ask.partition, false));
    told.head = head.note;
    if (ask.seq == 0) return okStatus();
    if (const PartitionHost* host = replica.host(ask.partition); host != nullptr && ask.seq < host->firstEntry())
      return notFound(concat("entries before ", host->firstEntry(), " were pruned here"));
    WITAN_TRY(proof, proveEntry(replica, ask.partition, ask.seq, ask.size == 0 ? head.size : ask.size, ask.since));
    told.proof = toJson(proof);
    if (told.proof.size() > kMaxClusterFrame / 2) return invalid("no frame holds an entry of that size");
    return okStatus();
  };
  const Status answered = answer();
  if (answered.ok()) told.verdict = EntryVerdict::told;
  if (!answered.ok()) told = {ask.id, EntryVerdict::refused, answered.error().message};
  return told;
}

Result<HeldEntry> checkTold(const Replica& replica, const EntryAsk& ask, const EntryTold& told, const LogHead* known) {
  if (told.verdict == EntryVerdict::busy) return unavailable("it answers no more questions for now", "ask again");
  if (told.verdict != EntryVerdict::told) return notFound(told.reason);
  HeldEntry held;
  WITAN_SET(held.head, checkHead(replica, ask, told.head));
  if (ask.seq == 0) return held;
  WITAN_TRY(parsed, parseJson(told.proof, {.bytes = kMaxClusterFrame, .depth = 4}));
  WITAN_DO(readJson(parsed, held.proof, "proof"));
  const InclusionProof& proof = held.proof;
  if (proof.partition != ask.partition || proof.seq != ask.seq || (ask.size != 0 && proof.size != ask.size))
    return corrupt("the proof is not of what was asked");
  WITAN_TRY(root, rootOf(held.head, known, proof.size));
  WITAN_DO(checkInclusion(proof, root));
  WITAN_DO(checkConsistency(proof, ask.since, root));
  return held;
}

}  // namespace witan::node
