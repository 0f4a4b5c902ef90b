#include "node/operations/receipt.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "agents/policy/monitor.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/versions.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"

namespace witan::node::operations {

using namespace replication;

namespace {

constexpr std::size_t kMinDigestDigits = 8;

ReceiptRow rowOf(const PrivacyReceipt& r) {
  return {receiptKey(r),         r.agentId,     r.boundary,     r.provider, r.model, r.policyName, r.policyVersion,
          toHex(r.policyDigest), r.confirmedBy, r.confirmedAtMs};
}

Result<std::vector<PrivacyReceipt>> all(OperationContext& context, const Omittable<std::string>& scope) {
  Space* space = context.space(DatabaseName::agents, scope);
  return space == nullptr ? Result<std::vector<PrivacyReceipt>>(std::vector<PrivacyReceipt>{}) : receiptsIn(*space);
}

Result<PrivacyReceipt> chosen(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipts, all(context, request.scope));
  std::vector<std::string> keys;
  for (const PrivacyReceipt& receipt : receipts) keys.push_back(receiptKey(receipt));
  WITAN_TRY(key, chosenByPrefix(request.key, keys, "receipt", "see: witan receipt list"));
  std::erase_if(receipts, [&](const PrivacyReceipt& receipt) { return receiptKey(receipt) != key; });
  return std::move(receipts.front());
}

Status commit(OperationContext& context, const Omittable<std::string>& scope, Write write) {
  WITAN_DO(context.replica.commit(DatabaseName::agents, scope.value_or(kDefaultScope), {&write, 1}));
  return okStatus();
}

// What would count for nothing is not taken: people must not believe that they have confirmed something.
Status checkUse(const agents::Policy& policy, const ReceiptConfirmRequest& a, const agents::ModelName* model) {
  const auto boundary = std::find_if(policy.boundary.begin(), policy.boundary.end(),
                                     [&](const agents::Boundary& b) { return b.name == a.boundary; });
  const std::string named = "policy " + policy.name + " version " + std::to_string(policy.version);
  if (boundary == policy.boundary.end()) return invalid(named + " has no boundary " + inQuotes(a.boundary));
  const bool asked =
      std::any_of(boundary->operation.begin(), boundary->operation.end(), [&](const agents::OperationRule& rule) {
        return model != nullptr ? rule.inference : rule.confirm && !rule.inference;
      });
  if (!asked)
    return invalid("no operation of boundary " + inQuotes(a.boundary) + " asks for a confirmation " +
                       (model != nullptr ? "of a model" : "without a model"),
                   model != nullptr ? "leave --provider and --model out" : "give --provider and --model");
  const bool granted = std::any_of(policy.grant.begin(), policy.grant.end(), [&](const agents::Grant& grant) {
    const auto has = [](const auto& list, const auto& one) {
      return std::find(list.begin(), list.end(), one) != list.end();
    };
    return grant.agent == a.agent && has(grant.boundaries, a.boundary) &&
           (model == nullptr || has(grant.models, *model));
  });
  return granted ? okStatus()
                 : Status(invalid(named + " does not grant this use to " + inQuotes(a.agent),
                                  "a confirmation would count for nothing"));
}

// Which policy a receipt names is for the person to know: the one that was read, and the one that is in force.
Status checkPolicyIs(const OperationContext& context, const agents::Policy& policy, const std::string& wanted) {
  const std::string digest = toHex(agents::policyDigest(policy));
  const std::string here = policy.name + " " + std::to_string(policy.version) + " " + digest;
  if (!wanted.empty() && (wanted.size() < kMinDigestDigits || !digest.starts_with(wanted)))
    return Error{ErrorCode::conflict, "the policy is another one by now: " + here + ", not " + inQuotes(wanted),
                 "read it (witan policy check), then confirm it by its digest"};
  if (context.agents == nullptr || context.agents->policyEpoch() == here) return okStatus();
  return Error{ErrorCode::conflict,
               "the file says " + here + ", and the node works under " + context.agents->policyEpoch(),
               "let the node read it again (SIGHUP, systemctl reload), or put the former file back"};
}

}  // namespace

Result<Receipts> listReceipts(OperationContext& context, const ScopeRequest& request) {
  WITAN_TRY(receipts, all(context, request.scope));
  Receipts list;
  for (const PrivacyReceipt& receipt : receipts) list.receipts.push_back(rowOf(receipt));
  return list;
}

Result<ReceiptRow> showReceipt(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipt, chosen(context, request));
  return rowOf(receipt);
}

Result<ReceiptRow> confirmReceipt(OperationContext& context, const ReceiptConfirmRequest& request) {
  const agents::ModelName named{request.provider.value_or(""), request.model.value_or("")};
  if (named.provider.empty() != named.model.empty()) return invalid("provider and model belong together");
  const agents::ModelName* model = named.model.empty() ? nullptr : &named;
  WITAN_TRY(policy, readAgentsPolicy((context.dir / kAgentsPolicyFile).string()));
  WITAN_DO(checkPolicyIs(context, policy, request.policy.value_or("")));
  WITAN_DO(checkUse(policy, request, model));
  const PrivacyReceipt receipt =
      agents::confirm(policy, request.agent, model, request.boundary, request.by, context.nowMs());
  WITAN_TRY(write, recordWrite(receiptKey(receipt), receipt));
  WITAN_DO(commit(context, request.scope, std::move(write)));
  return rowOf(receipt);
}

Result<ReceiptRow> withdrawReceipt(OperationContext& context, const ReceiptRequest& request) {
  WITAN_TRY(receipt, chosen(context, request));
  WITAN_DO(commit(context, request.scope, {Kind::receipt, receiptKey(receipt), "", true}));
  return rowOf(receipt);
}

}  // namespace witan::node::operations
