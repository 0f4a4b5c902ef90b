// The requests and notices of an AgentHost: values, handed out only when the writes that they rest on are
// durable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/identity.h"
#include "base/json.h"

namespace witan::agents {

// A request to the meta-agent of an entity. Its operation id makes repeating harmless; answered by answered().
struct ProposalCall {
  OperationId operation;
  RunKey run;
  PlanDigest plan;  // the meta-agent takes one plan of a run (docs/FINDINGS.md, F3)
  std::string agentId;
  bool begin = false;  // of a new entity: `body` has its fields; otherwise the action
  std::string domain, entity, role;
  json::value body;
};

// A call of a tool that is none of Witan's own. With an operation it changes something: that is its idempotency key,
// and the answer goes to answered(). Otherwise it is a look, answered by observed().
struct ToolCall {
  RunKey run;
  std::string agentId;
  std::string span;
  std::optional<OperationId> operation;
  std::string tool;
  json::object arguments;
};

// Something that a person should know.
struct HostNotice {
  std::string kind;  // needsAttention, question, failed, unheard, answer
  std::string what;
};

struct HostEffects {
  std::vector<ProposalCall> proposals;
  std::vector<ToolCall> calls;
  std::vector<HostNotice> notices;
  void clear() { proposals.clear(), calls.clear(), notices.clear(); }
};

}  // namespace witan::agents
