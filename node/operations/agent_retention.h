// Operations on how much agents leave behind: what it takes, taking away what is old, and beginning anew.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(AgentUsageRow, (std::string, agent, "Id of the agent"), (std::uint64_t, runs, "Runs that are known"),
             (std::uint64_t, entries, "Entries of transcripts"), (std::uint64_t, messages, "Messages of its threads"),
             (std::uint64_t, plans, "Plans"), (std::uint64_t, operations, "Records of operations"),
             (std::uint64_t, bytes, "Bytes of all of them"),
             (Omittable<Time>, oldest, "When the oldest of its messages was written"))

WITAN_STRUCT(AgentUsage, (std::vector<AgentUsageRow>, agents, "By bytes, most first"),
             (std::uint64_t, batches, "Notification batches that are held, of all agents and people"))

// O(records of the scope).
Result<AgentUsage> agentUsage(OperationContext& context, const ScopeRequest& request);

WITAN_STRUCT(AgentPruneRequest, (std::uint64_t, days, "Runs that ended more days ago than this; at least 1"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(AgentPruned, (std::uint64_t, runs, "Records of runs that went"),
             (std::uint64_t, entries, "Entries of transcripts"), (std::uint64_t, plans, "Plans"),
             (std::uint64_t, operations, "Operations whose records went"), (std::uint64_t, approvals, "Approvals"),
             (Omittable<std::string>, held, "Why nothing could go"))

// As the node does by itself after [agents] retention_days. Errors: invalid. O(records of the scope).
Result<AgentPruned> pruneAgents(OperationContext& context, const AgentPruneRequest& request);

WITAN_STRUCT(AgentResetRequest, (std::string, id, "Id of the agent", 1), (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(AgentResetDone, (std::string, agentId, "Id of the agent"),
             (std::uint64_t, messages, "Messages and summaries of its threads that went"))

// Takes away state, threads and summaries of the agent: it begins anew, on every device. Its runs stay. Errors:
// notFound; conflict, a wake of it waits or runs here.
Result<AgentResetDone> resetAgent(OperationContext& context, const AgentResetRequest& request);

inline constexpr Operation kAgentUsage{"GET", "/v1/agent/usage", agentUsage};
inline constexpr Operation kAgentPrune{"POST", "/v1/agent/prune", pruneAgents};
inline constexpr Operation kAgentReset{"POST", "/v1/agent/reset", resetAgent};

}  // namespace witan::node::operations
