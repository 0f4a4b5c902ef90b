#include "agents/policy/receipts.h"

#include <tuple>

#include "base/capnp_codec.h"
#include "base/identity.h"

namespace witan::agents {

namespace {

constexpr std::size_t kMaxReceiptBytes = 16 * 1024;

}  // namespace

PrivacyReceipt confirm(const Policy& policy, std::string_view agent, const ModelName* model, std::string_view boundary,
                       std::string_view person, std::int64_t atMs) {
  PrivacyReceipt receipt;
  receipt.agentId = agent;
  if (model != nullptr) {
    receipt.provider = model->provider;
    receipt.model = model->model;
  }
  receipt.boundary = boundary;
  receipt.policyName = policy.name;
  receipt.policyVersion = policy.version;
  receipt.policyDigest = policyDigest(policy);
  receipt.confirmedBy = person;
  receipt.confirmedAtMs = atMs;
  return receipt;
}

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

Status ReceiptBook::add(const PrivacyReceipt& receipt) {
  WITAN_DO(checkReceipt(receipt));
  receipts_.insert(receipt);
  return okStatus();
}

bool ReceiptBook::has(const ReceiptQuery& query) const { return receipts_.find(query) != receipts_.end(); }

bool ReceiptBook::hasOfAnotherVersion(const ReceiptQuery& query) const {
  const Hash lowest{};
  ReceiptQuery first = query;
  first.policyVersion = 0;
  first.policyDigest = &lowest;
  const auto at = receipts_.lower_bound(first);
  return at != receipts_.end() && at->agentId == query.agent && at->provider == query.provider &&
         at->model == query.model && at->boundary == query.boundary && at->policyName == query.policyName;
}

}  // namespace witan::agents
