// Operations on agents: their replicated state, and whether all that they did is in order.
#pragma once

#include "node/operations/operation.h"
#include "node/operations/versions.h"
#include "replication/records/agent_view.h"

namespace witan::node::operations {

WITAN_STRUCT(AgentRow, (std::string, agentId, "Id of the agent"),
             (std::string, lifecycle, "created, active, dormant or destroyed"),
             (json::value, primaryGoal, "Value of that slot, any JSON"),
             (std::uint64_t, versions, "Number of concurrent versions"))

WITAN_STRUCT(Agents, (std::vector<AgentRow>, agents, "Agents, by id"))

using replication::AgentSnapshotRow;

WITAN_STRUCT(AgentShowRequest, (std::string, id, "Id of the agent", 1),
             (Omittable<bool>, history, "true: also each of the concurrent versions"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(AgentShown, (std::vector<VersionDot>, antichain, "Concurrent versions"),
             (AgentSnapshotRow, view, "The agent as every replica sees it"),
             (Omittable<std::uint64_t>, messages, "Number of its messages"),
             (Omittable<std::uint64_t>, missingParents, "Parents of messages that have not arrived"),
             (Omittable<std::vector<AgentSnapshotRow>>, snapshots, "The concurrent versions"))

WITAN_STRUCT(AgentSetRequest, (std::string, id, "Id of the agent", 1),
             (Omittable<std::string>, lifecycle, "created, active, dormant or destroyed"),
             (Omittable<json::object>, slots,
              "Values, any JSON, by slot: primaryGoal, activeTaskId, openLoopIds, preferenceByKey, extension"),
             (Omittable<std::uint64_t>, sleepUntil, "In milliseconds since 1970"),
             (Omittable<std::optional<std::uint64_t>>, nextWakeAt, "In milliseconds since 1970; null: none"),
             (Omittable<std::uint64_t>, consecutiveFailureCount, "Failures in a row"),
             (Omittable<std::string>, mode, "autonomous; interactive: only people wake it"),
             (Omittable<ByName<std::uint64_t>>, timers,
              "Intervals in milliseconds of timers, by name, on all devices; 0: off"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(AgentLifecycleRequest, (std::string, id, "Id of the agent", 1),
             (std::string, lifecycle, "active: resumed; dormant: paused; destroyed: ended for good"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(AgentWritten, (std::string, agentId, "Id of the agent"), (VersionDot, dot, "Version that was written"))

// What must be true of a device whose agents have finished (seed 003, section 10 and Theorem 2; seed 000, Theorem 2),
// counted from its stores: each operation has one effect in each database, each run that was started has an end, no
// saga is left over, no operation has two entries, and every ledger verifies by deciding again.
WITAN_STRUCT(AgentReport, (std::uint64_t, operations, "Operations with a record in the agents' database"),
             (std::uint64_t, journalEffects, "Operations with a record in the journal"), (std::uint64_t, runs, "Runs"),
             (std::uint64_t, doubled, "Operations of tools outside that several devices carried out"),
             (std::uint64_t, unwanted,
              "Effects that stay, though a person denied them or another plan of their run survived"),
             (std::uint64_t, sagas, "Sagas that are left over"),
             (std::uint64_t, waiting, "Proposals that wait for a counselor"),
             (std::uint64_t, ledgers, "Ledgers that were read"), (std::uint64_t, entries, "Entries of all ledgers"),
             (std::vector<std::string>, problems, "The first problems; empty: all is in order"))

Result<Agents> listAgents(OperationContext& context, const ScopeRequest& request);
Result<AgentShown> showAgent(OperationContext& context, const AgentShowRequest& request);
Result<AgentWritten> createAgent(OperationContext& context, const AgentSetRequest& request);
// Errors: conflict, a destroyed agent; invalid, if nothing changes.
Result<AgentWritten> setAgent(OperationContext& context, const AgentSetRequest& request);
// An agent that never worked here gets its state with it, if it is built in or a device hosts it. Errors: notFound, any
// other; conflict, a destroyed agent.
Result<AgentWritten> setAgentLifecycle(OperationContext& context, const AgentLifecycleRequest& request);
// Needs the context's node. O(everything). In agent_check.cpp.
Result<AgentReport> checkAgents(OperationContext& context, const ScopeRequest& request);

inline constexpr Operation kAgentList{"GET", "/v1/agent/list", listAgents};
inline constexpr Operation kAgentShow{"GET", "/v1/agent/show", showAgent};
inline constexpr Operation kAgentCreate{"POST", "/v1/agent/create", createAgent};
inline constexpr Operation kAgentSet{"POST", "/v1/agent/set", setAgent};
inline constexpr Operation kAgentLifecycle{"POST", "/v1/agent/lifecycle", setAgentLifecycle};
inline constexpr Operation kAgentCheck{"GET", "/v1/agent/check", checkAgents};

// JSON of a slot, in the form in which it is kept. Errors: invalid, naming the slot; an unknown slot, too large a
// value.
Result<replication::SlotName> slotNamed(std::string_view name);
Result<std::string> slotValue(replication::SlotName name, std::string_view text);

// What concurrent versions of an agent show together.
AgentShown agentPicture(const std::string& id, const std::vector<replication::Version>& antichain,
                        const replication::AgentView& view);

}  // namespace witan::node::operations
