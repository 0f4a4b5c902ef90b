// An agent's snapshot and view as JSON: the form that tools and tests exchange (`witan state merge`).
//
// Reading is strict: all members are there, none is unknown, ids are ids, counters lie in 0..2^63-1, and the vector
// clock has the dot as its writer's entry. The rows are written as canonical JSON (base/json_codec.h). A counter of 0
// in a map says the same as a missing one and is not written. Pure functions, any thread; arguments are borrowed for
// the call.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/message.h"
#include "base/result.h"
#include "replication/records/agent_view.h"

namespace witan::replication {

inline constexpr std::size_t kMaxSnapshotJson = 1024 * 1024;

struct VersionDot {
  WITAN_FIELDS(VersionDot, (std::uint64_t, counter, "Number of the commit"),
               (std::string, host, "Writer that committed it"))

  VersionDot() = default;
  explicit VersionDot(const Dot& dot) : counter(dot.counter), host(dot.host) {}
  Dot dot() const { return {host, counter}; }
};

using ClockRow = std::map<std::string, std::uint64_t>;
ClockRow clockRow(const VectorClock& clock);

WITAN_STRUCT(AgentPointers, (std::optional<std::string>, recentHeadMessageId, "Newest message; null: none"),
             (std::optional<std::string>, latestSummaryMessageId, "Newest summary; null: none"))

WITAN_STRUCT(AgentTimer, (std::uint64_t, firedThrough, "Latest multiple that has fired, in milliseconds since 1970"),
             (std::uint64_t, everyMs, "Interval, if it was set: 0 for off"),
             (std::uint64_t, version, "How often it was set; 0: its specification counts"),
             (std::string, host, "Writer that set it last; empty: none"))

WITAN_STRUCT(AgentSchedule, (std::uint64_t, sleepUntil, "In milliseconds since 1970"),
             (std::optional<std::uint64_t>, nextWakeAt, "In milliseconds since 1970; null: none"),
             (std::uint64_t, firedThrough, "Moment through which wakes have fired, in milliseconds since 1970"),
             (Omittable<ByName<AgentTimer>>, timers, "Timers that have fired or were set, by name"))

WITAN_STRUCT(AgentSlot, (json::value, value, "Any JSON"), (std::uint64_t, version, "Number of writes; 0: none"),
             (std::string, host, "Writer of the last one; empty: none"))

// A version, or with no dot a view of several.
WITAN_STRUCT(AgentSnapshotRow, (std::string, agentId, "Id of the agent"),
             (Omittable<VersionDot>, dot, "Which version; absent: a view of all concurrent versions"),
             (ClockRow, vc, "What the version includes: counters by writer"),
             (std::string, lifecycle, "created, active, dormant or destroyed"),
             (AgentSchedule, schedule, "When it wakes"), (AgentPointers, pointers, "Messages that it points to"),
             (ByName<AgentSlot>, slots, "Slots, by name"),
             (ClockRow, processedCounterByHost, "What the agent has processed: counters by writer"),
             (std::uint64_t, consecutiveFailureCount, "Failures in a row"),
             (Omittable<std::string>, mode, "interactive: only people wake it; absent: autonomous"))

AgentSnapshotRow snapshotRow(const AgentSnapshot& snapshot);
// `vc` is the join.
AgentSnapshotRow viewRow(const std::string& agentId, const AgentView& view);

// One JSON text. Errors: invalid, with the place ("slots.primaryGoal.version") and the cause.
Result<AgentSnapshot> readSnapshot(std::string_view text);

}  // namespace witan::replication
