#include "agents/policy/receipts.h"

namespace witan::agents {

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

Status ReceiptBook::add(const PrivacyReceipt& receipt) {
  WITAN_DO(replication::checkRecord(receipt));
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
