// LocalGate: the policy of a device that was given none: agents may use what stays on the device (the journal, the
// meta-agent), each within its own capabilities; nothing crosses a boundary, no model is asked, no secret is given out.
#pragma once

#include "agents/episode/gate.h"

namespace witan::agents {

class LocalGate final : public episode::Gate {
 public:
  episode::GateVerdict judge(const episode::GateRequest& request) const override {
    const episode::ToolInfo& tool = *request.tool;
    if (tool.boundary.empty() && tool.provider.empty() && tool.secret.empty())
      return {episode::GateKind::allow, "", "", std::nullopt, std::nullopt};
    return {episode::GateKind::deny, "out_of_scope", "without a policy nothing leaves the device", std::nullopt,
            std::nullopt};
  }
  std::string epoch() const override { return "local"; }
};

}  // namespace witan::agents
