// AgentWaits: whether the policy lets an agent use what it thinks and acts through, as far as people can mend that: a
// use that a person has to confirm, a secret. Until then wakes of the agent wait (WakeOptions::attended), and an
// incident says for what: a run would be denied its thought or its action, and be over.
//
// Belongs to a Daemon, on its loop's thread; what the constructor is given outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/host/device_gate.h"
#include "node/telemetry/log.h"
#include "replication/local_replica.h"

namespace witan::node {

// The kind of such an incident; its text begins with the agent's id and ": ".
inline constexpr const char* kAgentWaits = "agentWaits";

class AgentWaits {
 public:
  AgentWaits(Log& log, std::shared_ptr<const agents::DeviceGate> gate,
             const std::vector<agents::episode::ToolInfo>& tools);

  // Whether it may begin a run now.
  bool mayBegin(const agents::AgentSpec& agent, replication::LocalReplica& replica);

 private:
  std::string lacks(const agents::AgentSpec& agent) const;

  Log& log_;
  const std::shared_ptr<const agents::DeviceGate> gate_;
  std::vector<agents::episode::ToolInfo> tools_;
  std::map<std::string, std::string, std::less<>> lacking_;  // of agents: what was said last; empty: nothing lacks
};

}  // namespace witan::node
