#include "agents/episode/policy_gate.h"

#include "base/bytes.h"

namespace witan::agents::episode {

namespace {

GateKind kindOf(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::deny: return GateKind::deny;
    case VerdictKind::allow: return GateKind::allow;
    case VerdictKind::redact: return GateKind::redact;
    case VerdictKind::requireHuman: return GateKind::requireHuman;
  }
  return GateKind::deny;
}

}  // namespace

GateVerdict PolicyGate::judge(const GateRequest& request) const {
  const ToolInfo& tool = *request.tool;
  const json::value payload = *request.arguments;
  // What the episode holds of tools and targets it has checked itself; its locale the monitor checks against the
  // boundary's.
  const PolicyScope held{{tool.name},
                         {tool.boundary},
                         {request.scope.begin(), request.scope.end()},
                         {request.locale.begin(), request.locale.end()}};
  const ModelName model{tool.provider, tool.model};
  PolicyRequest asked;
  asked.agent = request.agent;
  asked.category = request.category;
  asked.tool = tool.name;
  asked.scopes = request.scope;
  asked.held = &held;
  asked.boundary = tool.boundary;
  asked.operation = tool.operation;
  asked.model = tool.model.empty() ? nullptr : &model;
  asked.secret = tool.secret;
  asked.payload = &payload;
  asked.operationId = request.span;
  asked.approved = request.approved;
  PolicyVerdict verdict = monitor_.check(asked, receipts_, secrets_);

  GateVerdict out{kindOf(verdict.kind), std::string(enumName(verdict.token)), std::move(verdict.witness), std::nullopt,
                  verdict.digest};
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
  return policy->name + " " + std::to_string(policy->version) + " " + toHex(monitor_.digest());
}

}  // namespace witan::agents::episode
