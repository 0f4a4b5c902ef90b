#include "agents/host/device_gate.h"

#include "agents/episode/policy_gate.h"
#include "agents/host/builtin_tools.h"
#include "agents/host/local_gate.h"
#include "base/mutant.h"

namespace witan::agents {

using episode::GateRequest;
using episode::GateVerdict;
using episode::PolicyGate;
using episode::ToolInfo;

PolicyPlace DeviceGate::placeOf(std::string_view tool) const {
  if (tool.starts_with("journal.")) return {"journal", std::string(tool.substr(tool.find('.') + 1))};
  if (const auto at = ledgerTools_.find(tool); at != ledgerTools_.end()) return {"ledger", at->second};
  if (effectKindOf(tool) == saga::EffectKind::proposal) return {"meta-agent", std::string(tool)};
  return {};
}

GateVerdict DeviceGate::judge(const GateRequest& asked) const {
  if (!monitor_) return LocalGate().judge(asked);
  ToolInfo tool = *asked.tool;
  GateRequest request = asked;
  request.tool = &tool;
  const PolicyPlace place = tool.boundary.empty() ? placeOf(tool.name) : PolicyPlace{};
  if (!place.boundary.empty()) {
    tool.boundary = place.boundary, tool.operation = place.operation;
    for (const Boundary& boundary : monitor_->policy()->boundary)
      if (boundary.name == place.boundary) request.locale = boundary.locales;
  }
  const ReceiptBook receipts = receiptsFor(request, tool);
  const SecretNames none;  // no built-in tool needs a secret
  return PolicyGate(*monitor_, receipts, none).judge(request);
}

// The one that could count.
ReceiptBook DeviceGate::receiptsFor(const GateRequest& request, const ToolInfo& tool) const {
  ReceiptBook book;
  const OperationRule* rule = monitor_->rule(tool.boundary, tool.operation);
  const bool confirmable = rule != nullptr && rule->confirm && !mutated("denyConfirmed");
  if (records_ == nullptr || rule == nullptr || (!rule->inference && !confirmable)) return book;
  const ModelName model{tool.provider, tool.model};
  const std::string key = replication::receiptKey(
      confirm(*monitor_->policy(), request.agent, tool.model.empty() ? nullptr : &model, tool.boundary, "", 0));
  auto versions = records_->versions(replication::Kind::receipt, key);
  if (!versions.ok()) return book;
  if (mutated("keepReceipt") && !versions->empty())
    (void)book.add(confirm(*monitor_->policy(), request.agent, nullptr, tool.boundary, "somebody", 0));
  if (const auto receipt = replication::receiptIn(key, *versions)) (void)book.add(*receipt);  // checked when read
  return book;
}

std::string DeviceGate::epoch() const {
  if (!monitor_) return LocalGate().epoch();
  return PolicyGate(*monitor_, {}, {}).epoch();
}

}  // namespace witan::agents
