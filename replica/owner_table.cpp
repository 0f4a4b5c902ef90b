#include "replica/owner_table.h"

#include "base/identity.h"
#include "base/mutant.h"
#include "replication/writer.h"

namespace witan::node {

namespace {
constexpr std::string_view kClaimRows = "c/";
}

Status checkClaim(const Claim& claim) {
  WITAN_DO(validateId("partition", claim.partition));
  WITAN_DO(replication::validateWriter("epoch owner", claim.owner));
  if (claim.number == 0) return invalid("a claim of epoch 0");
  return okStatus();
}

Status OwnerTable::load(const store::Reader& store) {
  Status status = okStatus();
  WITAN_DO(store.scan(kClaimRows, {}, [&](std::string_view key, std::string_view value) {
    Claim claim;
    status = readMessage(value, claim, "claim");
    if (status.ok() && key != std::string(kClaimRows) + claim.partition)
      status = corrupt("a claim stands under another key");
    if (status.ok()) claims_[claim.partition] = std::move(claim);
    return status.ok();
  }));
  return status;
}

const Claim* OwnerTable::find(std::string_view partition) const {
  const auto at = claims_.find(partition);
  return at == claims_.end() ? nullptr : &at->second;
}

bool OwnerTable::learn(const Claim& claim, store::WriteBatch& out) {
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
