#include "agents/host/device_gate.h"

#include <algorithm>

#include "agents/host/builtin_tools.h"
#include "base/bytes.h"
#include "base/identity.h"
#include "base/mutant.h"

namespace witan::agents {

using episode::GateKind;
using episode::GateRequest;
using episode::GateVerdict;
using episode::LocalGate;
using episode::ToolInfo;

static_assert(enumNames<VerdictKind>() == enumNames<GateKind>());

GateVerdict PolicyGate::judge(const GateRequest& request) const {
  const ToolInfo& tool = *request.tool;
  const json::value payload = *request.arguments;
  // The episode has checked its tools and targets itself. The monitor checks its locale against the boundary's.
  const PolicyScope held{{tool.name},
                         {tool.boundary},
                         {request.scope.begin(), request.scope.end()},
                         {request.locale.begin(), request.locale.end()}};
  const ModelName model{tool.provider, tool.model};
  PolicyRequest asked{.agent = request.agent,
                      .category = request.category,
                      .tool = tool.name,
                      .scopes = request.scope,
                      .held = &held,
                      .boundary = tool.boundary,
                      .operation = tool.operation,
                      .model = tool.model.empty() ? nullptr : &model,
                      .secret = tool.secret,
                      .payload = &payload,
                      .operationId = request.span,
                      .approved = request.approved};
  PolicyVerdict verdict = monitor_.check(asked, receipts_, secrets_);

  GateVerdict out{static_cast<GateKind>(verdict.kind), std::string(enumName(verdict.token)), std::move(verdict.witness),
                  std::nullopt, verdict.digest};
  if (verdict.projected) {
    if (!verdict.projected->is_object())
      return {GateKind::deny, "overshared_payload_blocked", "nothing of it may cross", std::nullopt, std::nullopt};
    out.arguments = std::move(verdict.projected->get_object());
  }
  return out;
}

std::string PolicyGate::epoch() const {
  const Policy* policy = monitor_.policy();
  if (policy == nullptr) return "none";
  return concat(policy->name, " ", policy->version, " ", toHex(monitor_.digest()));
}

PolicyPlace DeviceGate::placeOf(std::string_view tool) const {
  if (tool.starts_with("journal.")) return {"journal", std::string(tool.substr(tool.find('.') + 1))};
  if (const auto at = ledgerTools_.find(tool); at != ledgerTools_.end()) return {"ledger", at->second};
  if (effectKindOf(tool) == saga::EffectKind::proposal) return {"meta-agent", std::string(tool)};
  return {};
}

PolicyVerdict DeviceGate::crossing(std::string_view graph, std::string_view boundary, std::string_view operation,
                                   const json::value& payload) const {
  if (!monitor_) return {};
  PolicyScope held{{"graph"}, {std::string(boundary)}, {}, {}};
  for (const Boundary& one : monitor_->policy()->boundary)
    if (one.name == boundary) held.locales = one.locales;  // the graph's own were checked when it was deployed
  return monitor_->check({.agent = graph,
                          .category = "graph",
                          .tool = "graph",
                          .held = &held,
                          .boundary = boundary,
                          .operation = operation,
                          .payload = &payload},
                         {}, {});
}

namespace {

GateVerdict withHint(GateVerdict verdict) {
  if (verdict.kind == GateKind::deny)
    verdict.why += ", not even to a program or a tool on it: policy.toml in the data directory says what may";
  return verdict;
}

// Names of versions that stand side by side (agents/wake/agent_conflict.h): nothing that agents say, and no payload
// crosses with them.
bool isVersionNames(const json::value& settles) {
  if (!settles.is_array() || settles.get_array().size() > kMaxPolicyList) return false;
  return std::ranges::all_of(settles.get_array(), [](const json::value& one) {
    const std::string_view name = one.is_string() ? std::string_view(one.get_string()) : std::string_view();
    const std::size_t colon = std::min(name.rfind(':'), name.size());
    const std::string_view counter = name.substr(std::min(colon + 1, name.size()));
    return validateId("writer", name.substr(0, colon)).ok() && !counter.empty() && counter.size() <= 20 &&
           std::ranges::all_of(counter, [](char c) { return c >= '0' && c <= '9'; });
  });
}

}  // namespace

// The settling of an entry that only agents wrote is Witan's own: of its arguments the policy judges the others.
GateVerdict DeviceGate::judge(const GateRequest& asked) const {
  const json::value* settles =
      asked.tool->name == "journal.put" && monitor_ ? asked.arguments->if_contains("settles") : nullptr;
  if (settles == nullptr || !isVersionNames(*settles)) return judgeWhole(asked);
  json::object others = *asked.arguments;
  others.erase("settles");
  GateRequest request = asked;
  request.arguments = &others;
  GateVerdict verdict = judgeWhole(request);
  if (verdict.arguments) (*verdict.arguments)["settles"] = *settles;
  return verdict;
}

GateVerdict DeviceGate::judgeWhole(const GateRequest& asked) const {
  if (!monitor_) return withHint(LocalGate().judge(asked));
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
  return PolicyGate(*monitor_, receipts, secrets_).judge(request);
}

episode::AnswerVerdict DeviceGate::judgeAnswer(const GateRequest& request, const json::value& answer) const {
  if (!monitor_) return {};
  const ToolInfo& tool = *request.tool;
  const PolicyPlace place = tool.boundary.empty() ? placeOf(tool.name) : PolicyPlace{tool.boundary, tool.operation};
  PolicyVerdict verdict = monitor_->checkAnswer(place.boundary, place.operation, answer);
  return {verdict.mayRun(), verdict.mayRun() ? "" : std::string(enumName(verdict.token)), std::move(verdict.witness),
          std::move(verdict.projected)};
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
