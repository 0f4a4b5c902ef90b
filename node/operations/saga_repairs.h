// What people said about sagas that were put aside: who had one tried again or undone, when, and why it had stopped.
// Kept beside the records of this device, of the newest 1,000 operations, also after the saga has ended.
//
// Main thread only. The database outlives the call; the caller flushes it.
#pragma once

#include "base/identity.h"
#include "base/message.h"
#include "replication/database.h"

namespace witan::node::operations {

inline constexpr std::size_t kMaxRepaired = 1'000;   // operations
inline constexpr std::size_t kMaxRepairsOfOne = 16;  // the newest

WITAN_ENUM(RepairKind, retry, compensate)

WITAN_STRUCT(SagaRepair, (RepairKind, kind, "What was asked for"), (std::string, by, "Name of the person"),
             (std::int64_t, atMs, "When, in milliseconds since 1970"),
             (std::string, before,
              "Why it had stopped; begins with \"uncertain\" if an attempt may have had its effect"))

// Errors: corrupt.
Result<std::vector<SagaRepair>> repairsOf(const replication::Database& agents, const OperationId& operation);

// Errors: corrupt. O(operations that were repaired).
Status noteRepair(replication::Database& agents, const OperationId& operation, SagaRepair repair);

// "tried again by ann at 2026-...; before: uncertain: ..."
std::string repairWords(const SagaRepair& repair);

}  // namespace witan::node::operations
