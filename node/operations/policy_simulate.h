// The recorded calls of agents, judged again under another policy, before that is loaded: whom it would stop, and whom
// it would let. Nothing is carried out or written. Receipts count as they stand for that policy; secrets count as
// there.
#pragma once

#include "agents/policy/policy.h"
#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(PolicySimulateRequest, (json::object, policy, "The policy, as JSON"),
             (Omittable<Time>, since, "Calls from then on only; default: all"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(PolicyChange, (std::string, agent, "Agent"), (std::string, tool, "Tool"),
             (std::string, before, "Recorded verdict, with its token"), (std::string, now, "Verdict under this policy"),
             (std::uint64_t, calls, "Calls of which this is so"), (std::string, run, "Key of the last such run"),
             (std::string, why, "Why, in words; empty: it may"))

WITAN_STRUCT(PolicySimulation, (std::uint64_t, transcripts, "Transcripts that were read"),
             (std::uint64_t, calls, "Calls that were judged again"),
             (std::uint64_t, unknown, "Calls whose tool the transcript does not describe"),
             (std::vector<PolicyChange>, changes, "What would be judged otherwise, most calls first"))

// Errors: the policy is none. O(messages of the scope).
Result<PolicySimulation> simulatePolicy(OperationContext& context, const PolicySimulateRequest& request);

inline constexpr Operation kPolicySimulate{"POST", "/v1/policy/simulate", simulatePolicy};

}  // namespace witan::node::operations
