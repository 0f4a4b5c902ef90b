// Operations on wakes of agents and their runs.
#pragma once

#include "node/operations/operation.h"

namespace witan::node::operations {

WITAN_STRUCT(WakeListRequest, (Omittable<std::string>, agent, "Wakes of this agent only"),
             (Omittable<bool>, all, "true: every known run too"), (Omittable<bool>, failed, "true: failed runs only"),
             (Omittable<std::string>, scope, kScopeNote))

WITAN_STRUCT(WakeRow, (std::string, run, "Key of the run"), (std::string, agentId, "Agent"),
             (std::string, reason, "Why it wakes"), (std::string, subject, "What it wakes for"),
             (std::string, status, "State of the wake or its run"), (std::string, cause, "Cause of the end"),
             (std::int64_t, atMs, "When, in milliseconds since 1970"))

WITAN_STRUCT(Wakes, (std::vector<WakeRow>, wakes, "Wakes and runs, oldest first"))

Result<Wakes> listWakes(OperationContext& context, const WakeListRequest& request);

inline constexpr Operation kWakeList{"GET", "/v1/wake/list", listWakes};

}  // namespace witan::node::operations
