// AgentRuntime: the agents of a device beside its Replica: what they propose becomes requests, the answers become
// outcomes, and the two databases are flushed in the order that their sagas rest on (agents/host/agent_host.h).
//
// Owned and driven by Replica::drain(); not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agents/host/agent_host.h"
#include "agents/host/device_gate.h"
#include "base/time.h"
#include "domains/agents.h"
#include "kernel/graph/environment.h"
#include "replica/ledger_watch.h"

namespace witan::node {

struct Answer;
struct Answered;
struct Effects;
class Replica;

struct AgentSetup {
  std::vector<const agents::Agent*> agents;
  std::shared_ptr<agents::DeviceGate> policy;  // of a device with a policy file, or without
  // Agents ask this one if it is set, else the policy; it outlives the replica. Neither: nothing is allowed.
  const agents::episode::Gate* gate = nullptr;
  agents::HostOptions options;
  // Answers a look that is none of the host's own; its tool stands in `options.tools`. None: it is a tool outside.
  std::function<std::optional<agents::episode::Observation>(const Replica&, const agents::ToolCall&, Now)> look;
  // The partition that such a look is at; none: no look at one. It waits until what the copy shows is the log's.
  std::function<std::optional<std::string>(const Replica&, const agents::ToolCall&)> partitionOf;
  // What this device checks a graph against before its ledger takes the deployment. None: the document alone.
  std::function<graph::Environment()> graphEnvironment;
};

class AgentRuntime {
 public:
  // The setup outlives it.
  AgentRuntime(Replica& replica, const AgentSetup& setup);
  Status open(Now now);

  // One round: work, both flushes, effects.
  Status round(Now now, Effects& out);
  // After the ledgers were flushed: answers the looks at them.
  Status look(Now now);
  // Whether an answer was for an agent.
  bool take(const Answered& answered, Now now);
  // The entity waits for a counselor; the request stays in the outbox.
  void frozen(const Answer& answer);
  // When round() has something to do, by the steady clock; none: only if something comes.
  std::optional<std::int64_t> nextMs(Now now) const;

  agents::AgentHost& host() { return host_; }
  const agents::AgentHost& host() const { return host_; }

 private:
  const agents::episode::Gate& gateOf(const AgentSetup& setup) const;
  void lookAround(Now now);
  bool mustWait(const agents::ToolCall& call) const;
  Status submit(const agents::ProposalCall& call, Now now);

  Replica& replica_;
  const AgentSetup& setup_;
  agents::episode::ClosedGate closed_;
  agents::AgentHost host_;
  LedgerWatch watch_;
  struct Look {
    agents::ToolCall call;
    std::int64_t sinceMs = 0;
  };
  std::vector<Look> looks_;  // that wait, until the host gives them up
  std::optional<std::uint64_t> statementsSeen_;
  std::vector<std::string> members_;
  std::set<std::string> live_;
};

// --- Ledger tools (agents/tools/ledger_tool.h) on this device's replica: an agent sees each role's own slice and
// nothing more. An agent looks only at ledgers that the device keeps, and only at entries that are in the log for good:
// a look waits until the copy shows them.

// Offers the ledger tools to the agents of `setup` and makes them known to its policy. Requires: the policy is set.
void addLedgerTools(AgentSetup& setup, agents::ContentSeals seals);

// Whether the agent can work only where ledgers are kept.
bool needsLedgers(const agents::Agent& agent);

}  // namespace witan::node
