#include "node/daemon/agent_waits.h"

#include <algorithm>

#include "agents/episode/context.h"
#include "agents/host/builtin_tools.h"
#include "replication/incidents.h"

namespace witan::node {

using agents::PolicyToken;
using agents::episode::GateRequest;
using agents::episode::GateVerdict;
using agents::episode::ToolInfo;
using agents::episode::ToolKind;

namespace {

std::string remedyOf(const GateVerdict& verdict, const ToolInfo& tool) {
  if (verdict.token == enumName(PolicyToken::privacy_confirmation_required)) return "witan receipt confirm";
  if (verdict.token != enumName(PolicyToken::secret_unavailable)) return {};
  return concat("name the secret ", tool.secret,
                " in `secrets` of the operation in policy.toml, and store it: ", "witan secret add");
}

}  // namespace

AgentWaits::AgentWaits(Log& log, std::shared_ptr<const agents::DeviceGate> gate, const std::vector<ToolInfo>& tools)
    : log_(log), gate_(std::move(gate)), tools_(tools) {
  for (ToolInfo& tool : agents::builtinTools()) tools_.push_back(std::move(tool));
}

std::string AgentWaits::lacks(const agents::AgentSpec& agent) const {
  // An agent's file has its mind as the first capability; another look that is denied is an answer to it.
  const std::string mind = agent.capabilities.empty() ? "" : agent.capabilities.front().resource;
  for (const ToolInfo& tool : tools_) {
    const bool held = std::ranges::any_of(agent.capabilities, [&](const agents::Capability& one) {
      return agents::episode::coversResource(one.resource, tool.name);
    });
    if (!held || (tool.kind == ToolKind::look && tool.name != mind)) continue;
    const json::object nothing;
    GateRequest request;
    request.agent = agent.id, request.category = agent.category;
    request.tool = &tool, request.arguments = &nothing;
    request.locale = agent.locale;
    const GateVerdict verdict = gate_->judge(request);
    if (const std::string remedy = remedyOf(verdict, tool); !remedy.empty())
      return concat(tool.name, ": ", verdict.token, ": ", verdict.why, "; ", remedy);
  }
  return {};
}

bool AgentWaits::mayBegin(const agents::AgentSpec& agent, replication::LocalReplica& replica) {
  std::string why = lacks(agent);
  const bool may = why.empty();
  const auto said = lacking_.find(agent.id);
  if (said != lacking_.end() && said->second == why) return may;
  // Also what an earlier start of this node has said.
  replication::endIncidents(replica, kAgentWaits, "", agent.id + ": ");
  if (!may) {
    replica.note({kAgentWaits, "", concat(agent.id, ": its wakes wait until this is mended: ", why)});
    log_.warn("agents", "its wakes wait", {{"agent", agent.id}, {"why", why}});
  } else if (said != lacking_.end()) {
    log_.info("agents", "its wakes wait no longer", {{"agent", agent.id}});
  }
  lacking_.insert_or_assign(agent.id, std::move(why));
  return may;
}

}  // namespace witan::node
