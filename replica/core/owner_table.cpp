#include "replica/core/owner_table.h"

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "base/sha256.h"
#include "replica/core/log_hash_chain.h"
#include "replication/writer.h"

namespace witan::node {

namespace {
constexpr std::string_view kClaimRows = "c/";
constexpr std::string_view kSignedRows = "e/";
constexpr std::size_t kMaxSigned = 4096;  // of a partition

std::string signedRow(const OwnershipRecord& claim) {
  return concat(kSignedRows, claim.partition, '/', bigEndian(claim.number), claim.owner);
}
}  // namespace

Status checkOwnershipRecord(const OwnershipRecord& claim, std::uint64_t known) {
  WITAN_DO(validateId("partition", claim.partition));
  WITAN_DO(replication::validateWriter("epoch owner", claim.owner));
  if (claim.number == 0) return invalid("a claim of epoch 0");
  if (claim.previousNumber > claim.number) return invalid("a claim of an epoch before its previous one");
  for (const std::string* name : {&claim.previousOwner, &claim.successor})
    if (!name->empty()) WITAN_DO(replication::validateWriter("epoch owner", *name));
  if (mutated("anyEpoch") || (known == 0 && mutated("anyFirstEpoch"))) return okStatus();
  return kernel::checkEpochStep(claim.number, known);
}

Status OwnerTable::load(const store::Reader& store) {
  Status status = okStatus();
  WITAN_DO(store.scan(kClaimRows, {}, [&](std::string_view key, std::string_view value) {
    OwnershipRecord claim;
    status = readMessage(value, claim, "claim");
    if (status.ok() && key != std::string(kClaimRows) + claim.partition)
      status = corrupt("a claim stands under another key");
    if (status.ok() && claim.number <= kernel::kMaxEpoch) claims_[claim.partition] = std::move(claim);
    return status.ok();
  }));
  WITAN_DO(status);
  WITAN_DO(store.scan(kSignedRows, {}, [&](std::string_view key, std::string_view value) {
    OwnershipRecord claim;
    status = readMessage(value, claim, "claim");
    if (status.ok() && key != signedRow(claim)) status = corrupt("a signed claim stands under another key");
    if (status.ok()) signed_[claim.partition].emplace(claim.epoch(), std::move(claim));
    return status.ok();
  }));
  return status;
}

std::uint64_t OwnerTable::digest() const {
  Sha256 all;
  for (const auto& [partition, claim] : claims_)
    all.update(concat(bigEndian(claim.number), partition, '|', claim.owner, '|'));
  const Hash hash = all.finish();
  std::uint64_t digest = 0;
  for (const std::uint8_t byte : std::span(hash).first(sizeof digest)) digest = digest << 8U | byte;
  return std::max<std::uint64_t>(digest, 1);
}

const OwnershipRecord* OwnerTable::find(std::string_view partition, const kernel::Epoch& epoch) const {
  if (const auto all = signed_.find(partition); all != signed_.end())
    if (const auto at = all->second.find(epoch); at != all->second.end()) return &at->second;
  const OwnershipRecord* latest = find(partition);
  return latest != nullptr && latest->epoch() == epoch ? latest : nullptr;
}

std::vector<const OwnershipRecord*> OwnerTable::after(std::string_view partition, const kernel::Epoch& epoch) const {
  std::vector<const OwnershipRecord*> found;
  if (const auto all = signed_.find(partition); all != signed_.end())
    for (auto at = all->second.upper_bound(epoch); at != all->second.end(); ++at) found.push_back(&at->second);
  return found;
}

void OwnerTable::keepSigned(const OwnershipRecord& claim, store::WriteBatch& out) {
  auto& all = signed_[claim.partition];
  if (!all.emplace(claim.epoch(), claim).second) return;
  WordWriter words;
  out.put(signedRow(claim), words.message(claim));
  if (all.size() <= kMaxSigned) return;
  out.erase(signedRow(all.begin()->second));
  all.erase(all.begin());
}

const OwnershipRecord* OwnerTable::find(std::string_view partition) const {
  const auto at = claims_.find(partition);
  return at == claims_.end() ? nullptr : &at->second;
}

std::uint64_t OwnerTable::latestEpoch(std::string_view partition) const {
  const OwnershipRecord* known = find(partition);
  return known == nullptr ? 0 : known->number;
}

bool OwnerTable::learn(const OwnershipRecord& claim, store::WriteBatch& out) {
  auto [at, fresh] = claims_.try_emplace(claim.partition, claim);
  if (!fresh) {
    if ((mutated("acceptOldEpoch") || mutated("oldClaim")) && claim.epoch() < at->second.epoch()) at->second = claim;
    const bool nowSigned = claim.epoch() == at->second.epoch() && at->second.signature.empty();
    if (!claim.signature.empty()) keepSigned(claim, out);
    if (claim.epoch() <= at->second.epoch() && !(nowSigned && !claim.signature.empty())) return false;
    at->second = claim;
  } else if (claims_.size() > kMaxPartitions) {
    claims_.erase(at);
    return false;
  } else if (!claim.signature.empty()) {
    keepSigned(claim, out);
  }
  if (mutated("forgetClaims")) return true;
  WordWriter words;
  out.put(std::string(kClaimRows) + claim.partition, words.message(claim));
  return true;
}

}  // namespace witan::node
