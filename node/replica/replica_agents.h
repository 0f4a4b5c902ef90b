// AgentDesk: the agents of a device beside its Replica: what they propose becomes requests, the answers become
// outcomes, and the two databases are flushed in the order that their sagas rest on (agents/host/agent_host.h).
//
// Owned and driven by Replica::drain(); not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agents/host/agent_host.h"
#include "base/now.h"

namespace witan::node {

struct Answer;
struct Answered;
struct Effects;
class Replica;

struct AgentSetup {
  std::vector<const agents::Agent*> agents;
  const agents::episode::Gate* gate = nullptr;  // outlives the replica; null: nothing is allowed
  agents::HostOptions options;
};

class AgentDesk {
 public:
  AgentDesk(Replica& replica, const AgentSetup& setup);
  Status open(const AgentSetup& setup, Now now);

  // One round: work, both flushes, effects.
  Status round(Now now, Effects& out);
  // Whether an answer was for an agent.
  bool take(const Answered& answered, Now now);
  // The entity waits for a counselor; the request stays in the outbox.
  void frozen(const Answer& answer);

  agents::AgentHost& host() { return host_; }
  const agents::AgentHost& host() const { return host_; }

 private:
  void lookAround(Now now);
  Status submit(const agents::ProposalCall& call, Now now);

  Replica& replica_;
  agents::episode::ClosedGate closed_;
  agents::AgentHost host_;
  std::optional<std::uint64_t> statementsSeen_;
  std::vector<std::string> members_;
  std::set<std::string> live_;
};

}  // namespace witan::node
