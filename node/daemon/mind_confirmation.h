// MindConfirmation: whether a person has confirmed what thinks for an agent, a model above all, if the policy wants
// that. Until then wakes of the agent wait (WakeOptions::attended): a run would be denied its first thought, and be
// over.
//
// Belongs to a Daemon, on its loop's thread; the log outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/host/device_gate.h"
#include "node/telemetry/log.h"

namespace witan::node {

class MindConfirmation {
 public:
  MindConfirmation(Log& log, std::shared_ptr<const agents::DeviceGate> gate,
                   const std::vector<agents::episode::ToolInfo>& tools);

  // Logs each time that an agent begins to wait.
  bool given(const agents::AgentSpec& agent);

 private:
  Log& log_;
  const std::shared_ptr<const agents::DeviceGate> gate_;
  std::map<std::string, agents::episode::ToolInfo, std::less<>> looks_;
  std::set<std::string, std::less<>> waiting_;
};

}  // namespace witan::node
