#include "replica/core/owner_proofs.h"

#include <algorithm>

#include "base/bytes.h"
#include "kernel/record/merkle.h"
#include "replica/core/log_hash_chain.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_table.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kSealRows = "z/";
constexpr std::size_t kMaxPath = 64;  // hashes

std::string rowOf(std::string_view partition, std::uint64_t batch) {
  return concat(kSealRows, partition, '/', bigEndian(batch));
}

Hash leafOf(std::string_view cluster, std::string_view partition, const BatchSeal& seal) {
  return kernel::leafHash(concat("witan-batch/1\n", cluster, '\n', partition, '\n', seal.number, ' ', seal.owner, '\n',
                                 seal.batches, ' ', toHex(seal.chain), ' ', toHex(seal.value), '\n'));
}

std::string roundText(std::string_view cluster, std::uint64_t size, const Hash& root) {
  return concat("witan-round/1\n", cluster, '\n', size, ' ', toHex(root), '\n');
}

bool signedBy(std::span<const PublicKey> keys, std::string_view text, const Bytes& signature) {
  return std::ranges::any_of(keys, [&](const PublicKey& key) { return verifySignature(key, text, signature); });
}

}  // namespace

std::string claimText(std::string_view cluster, const OwnershipRecord& claim) {
  return concat("witan-claim/1\n", cluster, '\n', claim.partition, '\n', claim.number, ' ', claim.owner, '\n',
                enumName(claim.cause), '\n', claim.previousNumber, ' ', claim.previousOwner, '\n', claim.successor,
                '\n', claim.batches, ' ', toHex(claim.chain), '\n', claim.entries, ' ', toHex(claim.root), '\n');
}

void signClaim(std::string_view cluster, OwnershipRecord& claim, const SigningKey& key) {
  const Signature signature = key.sign(claimText(cluster, claim));
  claim.signature.assign(signature.begin(), signature.end());
}

bool isProven(std::string_view cluster, const OwnershipRecord& claim, const HeadKeys& keys, const OwnerTable& known) {
  const std::string_view device = replication::deviceOf(claim.owner);
  if (claim.signature.empty() || !signedBy(keys.keysOf(device), claimText(cluster, claim), claim.signature))
    return false;
  const OwnershipRecord* latest = known.find(claim.partition);
  const Takeover may = keys.mayTakeOver(device);
  if (may == Takeover::yes || (may == Takeover::formerly && latest == nullptr)) return true;
  if (latest != nullptr && (latest->previous() == claim.epoch() || latest->epoch() == claim.epoch())) return true;
  const OwnershipRecord* before = known.find(claim.partition, claim.previous());
  if (before == nullptr || claim.cause != kernel::EpochCause::handover || claim.number != before->number + 1)
    return false;
  if (before->successor.empty()) return before->owner == claim.owner && !claim.successor.empty();
  return before->successor == claim.owner;
}

void sealTogether(std::string_view cluster, std::span<const std::pair<std::string, BatchSeal*>> seals,
                  const SigningKey& key) {
  if (seals.empty()) return;
  kernel::MemoryTree tree;
  for (const auto& [partition, seal] : seals) tree.append(leafOf(cluster, partition, *seal));
  const Signature signature = key.sign(roundText(cluster, tree.size(), tree.root()));
  for (std::uint64_t i = 0; i < seals.size(); ++i) {
    BatchSeal& seal = *seals[i].second;
    seal.index = i, seal.size = seals.size(), seal.root = tree.root();
    const auto path = kernel::inclusionProof(i, seals.size(), tree);
    WITAN_CHECK(path.ok(), "a tree in memory has the paths of its leaves");
    seal.path.clear();
    for (const Hash& hash : *path) seal.path.insert(seal.path.end(), hash.begin(), hash.end());
    seal.signature.assign(signature.begin(), signature.end());
  }
}

void SealBook::keep(const std::string& partition, std::uint64_t batch, Bytes seal, store::WriteBatch& out) {
  out.put(rowOf(partition, batch), {reinterpret_cast<const char*>(seal.data()), seal.size()});
  last_[partition] = {batch, std::move(seal)};
}

Bytes SealBook::find(std::string_view partition, std::uint64_t batch) const {
  if (const auto at = last_.find(partition); at != last_.end() && at->second.first == batch) return at->second.second;
  const auto row = ledgers_.get(rowOf(partition, batch));
  return row.ok() && *row ? Bytes((*row)->begin(), (*row)->end()) : Bytes();
}

bool SealBook::holds(std::string_view cluster, std::string_view partition, const BatchSeal& seal,
                     std::span<const PublicKey> keys) {
  if (seal.index >= seal.size || seal.path.size() % sizeof(Hash) != 0 || seal.path.size() / sizeof(Hash) > kMaxPath)
    return false;
  std::vector<Hash> path(seal.path.size() / sizeof(Hash));
  for (std::size_t i = 0; i < path.size(); ++i)
    std::copy_n(seal.path.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Hash)), sizeof(Hash), path[i].begin());
  if (!kernel::verifyInclusion(leafOf(cluster, partition, seal), seal.index, seal.size, path, seal.root)) return false;
  const std::string text = roundText(cluster, seal.size, seal.root);
  std::string whole = text;
  for (const PublicKey& key : keys) whole.append(key.begin(), key.end());
  whole.append(seal.signature.begin(), seal.signature.end());
  if (whole == good_) return true;
  if (!signedBy(keys, text, seal.signature)) return false;
  good_ = std::move(whole);
  return true;
}

}  // namespace witan::node
