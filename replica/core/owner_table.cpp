#include "replica/core/owner_table.h"

#include "base/identity.h"
#include "base/mutant.h"
#include "replication/writer.h"

namespace witan::node {

namespace {
constexpr std::string_view kClaimRows = "c/";
}

Status checkOwnershipRecord(const OwnershipRecord& claim, std::uint64_t known) {
  WITAN_DO(validateId("partition", claim.partition));
  WITAN_DO(replication::validateWriter("epoch owner", claim.owner));
  if (claim.number == 0) return invalid("a claim of epoch 0");
  if (mutated("anyEpoch")) return okStatus();
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
  return status;
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
    if (mutated("acceptOldEpoch") && claim.epoch() < at->second.epoch()) at->second = claim;
    if (claim.epoch() <= at->second.epoch()) return false;
    at->second = claim;
  } else if (claims_.size() > kMaxPartitions) {
    claims_.erase(at);
    return false;
  }
  if (mutated("forgetClaims")) return true;
  WordWriter words;
  out.put(std::string(kClaimRows) + claim.partition, words.message(claim));
  return true;
}

}  // namespace witan::node
