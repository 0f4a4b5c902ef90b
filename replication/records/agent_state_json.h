// An agent's snapshot and view as JSON: the form that tools and tests exchange (`witan state merge`).
//
// Reading is strict: all members are there, none is unknown, ids are ids, counters lie in 0..2^63-1, and the vector
// clock has the dot as its writer's entry. Writing is canonical (RFC 8785). A counter of 0 in a map says the same as a
// missing one and is not written. Pure functions, any thread; arguments are borrowed for the call.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "replication/records/agent_view.h"

namespace witan::replication {

inline constexpr std::size_t kMaxSnapshotJson = 1024 * 1024;

// One JSON text. Errors: invalid, with the place ("slots.primaryGoal.version") and the cause.
Result<AgentSnapshot> readSnapshot(std::string_view text);
std::string snapshotJson(const AgentSnapshot& snapshot);

// The snapshot's members without the dot; vc is the join.
std::string viewJson(std::string_view agentId, const AgentView& view);

}  // namespace witan::replication
