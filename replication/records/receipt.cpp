#include "replication/records/receipt.h"

#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "base/identity.h"
#include "base/json.h"
#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::replication {

namespace {

constexpr std::size_t kMaxReceiptBytes = 16 * 1024;

}  // namespace

Status checkReceipt(const PrivacyReceipt& r) {
  WITAN_DO(validateId("agentId", r.agentId));
  if (r.provider.empty() != r.model.empty()) return invalid("provider and model: one without the other");
  if (!r.provider.empty()) {
    WITAN_DO(validateId("provider", r.provider));
    WITAN_DO(validateId("model", r.model));
  }
  WITAN_DO(validateId("boundary", r.boundary));
  WITAN_DO(validateId("policyName", r.policyName));
  if (r.policyVersion == 0) return invalid("policyVersion: 0 (versions begin with 1)");
  if (r.policyDigest == Hash{}) return invalid("policyDigest: missing");
  WITAN_DO(validateId("confirmedBy", r.confirmedBy));
  if (r.confirmedAtMs < 0) return invalid("confirmedAtMs: before 1970");
  return okStatus();
}

Result<std::string> encodeReceipt(const PrivacyReceipt& receipt) {
  WITAN_DO(checkReceipt(receipt));
  WordWriter writer;
  return std::string(writer.message(receipt));
}

Result<PrivacyReceipt> readReceipt(std::string_view bytes) {
  if (bytes.size() > kMaxReceiptBytes) return invalid("a privacy receipt of more than 16 KiB");
  PrivacyReceipt receipt;
  WITAN_DO(readMessage(bytes, receipt, "privacy receipt"));
  WITAN_DO(checkReceipt(receipt));
  return receipt;
}

std::string receiptKey(const PrivacyReceipt& r) {
  return toHex(sha256(canonicalJson(json::object{{"agentId", r.agentId},
                                                 {"boundary", r.boundary},
                                                 {"model", r.model},
                                                 {"policyDigest", toHex(r.policyDigest)},
                                                 {"policyName", r.policyName},
                                                 {"policyVersion", std::to_string(r.policyVersion)},
                                                 {"provider", r.provider}})));
}

std::optional<PrivacyReceipt> receiptIn(std::string_view key, std::span<const Version> versions) {
  std::optional<PrivacyReceipt> shown;
  const Dot* dot = nullptr;
  for (const Version* version : maximalVersions(versions)) {
    if (version->tombstone) return std::nullopt;
    auto receipt = readReceipt(version->body);
    if (!receipt.ok() || receiptKey(*receipt) != key || (dot != nullptr && *dot < version->dot)) continue;
    dot = &version->dot;
    shown = *std::move(receipt);
  }
  return shown;
}

Result<std::vector<PrivacyReceipt>> receiptsIn(Space& agents) {
  std::vector<PrivacyReceipt> all;
  for (const std::string& key : agents.keys(Kind::receipt)) {
    WITAN_TRY(versions, agents.versions(Kind::receipt, key));
    if (auto receipt = receiptIn(key, versions)) all.push_back(*std::move(receipt));
  }
  return all;
}

}  // namespace witan::replication
