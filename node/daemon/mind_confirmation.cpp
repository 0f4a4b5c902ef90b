#include "node/daemon/mind_confirmation.h"

namespace witan::node {

MindConfirmation::MindConfirmation(Log& log, std::shared_ptr<const agents::DeviceGate> gate,
                                   const std::vector<agents::episode::ToolInfo>& tools)
    : log_(log), gate_(std::move(gate)) {
  for (const agents::episode::ToolInfo& tool : tools)
    if (tool.kind == agents::episode::ToolKind::look) looks_.emplace(tool.name, tool);
}

bool MindConfirmation::given(const agents::AgentSpec& agent) {
  // An agent's file has its mind as the first capability.
  const auto mind = agent.capabilities.empty() ? looks_.end() : looks_.find(agent.capabilities.front().resource);
  if (mind == looks_.end()) return true;
  const json::object nothing;
  agents::episode::GateRequest request;
  request.agent = agent.id, request.category = agent.category;
  request.tool = &mind->second, request.arguments = &nothing;
  request.locale = agent.locale;
  const agents::episode::GateVerdict verdict = gate_->judge(request);
  if (verdict.token != enumName(agents::PolicyToken::privacy_confirmation_required)) {
    waiting_.erase(agent.id);
    return true;
  }
  if (waiting_.insert(agent.id).second)
    log_.warn("agents", "its wakes wait until a person confirms what thinks for it",
              {{"agent", agent.id}, {"why", verdict.why}, {"do", "witan receipt confirm"}});
  return false;
}

}  // namespace witan::node
