#include "replica/core/owner_proofs.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "kernel/record/merkle.h"
#include "replica/core/log_hash_chain.h"
#include "replica/core/log_head.h"
#include "replica/core/owner_table.h"
#include "replica/core/partition_host.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kSealRows = "z/";

std::string rowOf(std::string_view partition, std::uint64_t batch) { return sealRowsOf(partition) + bigEndian(batch); }

// Of an epoch without proofs as before there were any.
Hash leafOf(std::string_view cluster, std::string_view partition, const BatchSeal& seal) {
  return kernel::leafHash(concat("witan-batch/", seal.format < kernel::kSignedFormat ? 1 : seal.format, '\n', cluster,
                                 '\n', partition, '\n', seal.number, ' ', seal.owner, '\n', seal.batches, ' ',
                                 toHex(seal.chain), ' ', toHex(seal.value), '\n',
                                 seal.format < kernel::kSignedBeginnings ? "" : concat(seal.run, '\n')));
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
  const bool holds =
      !claim.signature.empty() && signedBy(keys.keysOf(device), claimText(cluster, claim), claim.signature);
  if (!holds && !mutated("claimUnsigned")) return false;
  const OwnershipRecord* latest = known.find(claim.partition);
  const Takeover may = mutated("anyTaker") ? Takeover::yes : keys.mayTakeOver(device);
  if (may == Takeover::yes || (may == Takeover::formerly && latest == nullptr)) return true;
  if (latest != nullptr && (latest->previous() == claim.epoch() || latest->epoch() == claim.epoch())) return true;
  const OwnershipRecord* before = known.find(claim.partition, claim.previous());
  if (before == nullptr || claim.cause != kernel::EpochCause::handover || claim.number != before->number + 1)
    return false;
  if (before->successor.empty()) return before->owner == claim.owner && !claim.successor.empty();
  return before->successor == claim.owner;
}

void sealWith(RoundSignature& round, std::string_view cluster, std::string_view partition, BatchSeal& seal) {
  round.add(leafOf(cluster, partition, seal), [&seal](const Hash& leaf, const kernel::LeafProof& proof) {
    seal.index = proof.index, seal.size = proof.size;
    seal.root = *kernel::pathRoot(leaf, proof.index, proof.size, proof.path);
    seal.path.clear();
    for (const Hash& hash : proof.path) seal.path.insert(seal.path.end(), hash.begin(), hash.end());
    seal.signature.assign(proof.signature.begin(), proof.signature.end());
  });
}

void sealTogether(std::string_view cluster, std::span<const std::pair<std::string, BatchSeal*>> seals,
                  const SigningKey& key) {
  RoundSignature round;
  for (const auto& [partition, seal] : seals) sealWith(round, cluster, partition, *seal);
  round.sign(cluster, key);
}

bool holdsSeal(std::string_view cluster, std::string_view partition, const BatchSeal& seal,
               std::span<const PublicKey> keys, kernel::SignatureMemo& memo) {
  if (seal.path.size() % sizeof(Hash) != 0 || seal.path.size() / sizeof(Hash) > kernel::kMaxLeafPath) return false;
  std::vector<Hash> path(seal.path.size() / sizeof(Hash));
  for (std::size_t i = 0; i < path.size(); ++i)
    std::copy_n(seal.path.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Hash)), sizeof(Hash), path[i].begin());
  const auto root = kernel::pathRoot(leafOf(cluster, partition, seal), seal.index, seal.size, path);
  if (!root || *root != seal.root) return false;
  const std::string text = kernel::leavesText(cluster, seal.size, seal.root);
  return std::ranges::any_of(keys, [&](const PublicKey& key) { return memo.holds(key, text, seal.signature); });
}

std::string sealRowsOf(std::string_view partition) { return concat(kSealRows, partition, '/'); }

void SealBook::keep(const std::string& partition, std::uint64_t batch, Bytes seal, store::WriteBatch& out) {
  out.put(rowOf(partition, batch), {reinterpret_cast<const char*>(seal.data()), seal.size()});
  last_[partition] = {batch, std::move(seal)};
}

Bytes SealBook::find(std::string_view partition, std::uint64_t batch) const {
  if (const auto at = last_.find(partition); at != last_.end() && at->second.first == batch) return at->second.second;
  const auto row = ledgers_.get(rowOf(partition, batch));
  return row.ok() && *row ? Bytes((*row)->begin(), (*row)->end()) : Bytes();
}

std::string alteredSince(const SealBook& seals, const PartitionHost& host, std::string_view cluster,
                         const std::function<std::vector<PublicKey>(std::string_view device)>& keysOf) {
  const EpochHistory lineage = host.lineage();
  kernel::SignatureMemo memo;
  Hash chain = host.chain().after(host.first()).value_or(Hash{});
  std::string found;
  for (std::uint64_t n = host.first(); n < host.ledger().batches(); ++n) {
    const auto value = host.ledger().batch(n);
    if (!value.ok()) return value.error().message;
    chain = chained(chain, *value);
    const Bytes bytes = seals.find(host.id(), n);
    BatchSeal seal;
    // It may be of another batch, which stood there before.
    if (bytes.empty() || !readMessage(asView(bytes), seal, "seal").ok() || seal.batches != n + 1) continue;
    if (seal.epoch() != lineage.epochAt(n) || seal.value != sha256(*value) || seal.chain == chain) continue;
    if (!found.empty() || !holdsSeal(cluster, host.id(), seal, keysOf(replication::deviceOf(seal.owner)), memo))
      continue;
    found = concat("before batch ", n, " the log is not the one that its owner ", seal.owner, " sealed");
  }
  return found;
}

}  // namespace witan::node
