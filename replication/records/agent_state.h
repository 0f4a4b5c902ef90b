// The durable, synchronised state of one agent (seed 003, sections 2.1 and 2.2).
//
// A snapshot is this state as one writer left it, with the dot of the commit that wrote it and a vector clock of what
// its author had seen. A replica holds the antichain of snapshots and shows a view of it
// (replication/records/agent_view.h). Values: no I/O, any thread, nothing must outlive anything. Forms:
// replication/records/agent_state_codec.h (bytes that are stored, sent and fingerprinted) and
// replication/records/agent_state_json.h (for people and tools).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/reflect.h"
#include "base/result.h"
#include "replication/vector_clock.h"

namespace witan::replication {

// Versions, counters and times fit into a signed 64-bit integer, so that every reader of the JSON form can hold them.
inline constexpr std::uint64_t kMaxStateCounter = ~std::uint64_t{0} >> 1;
inline constexpr std::size_t kMaxSlotBytes = 256 * 1024;  // of one slot's value
inline constexpr std::size_t kMaxSlotDepth = 32;          // of one slot's value
inline constexpr std::size_t kMaxClockEntries = 4'096;    // as many as there may be writers

// In the order of precedence (003, section 4.2, rule 2): the later wins.
WITAN_ENUM(Lifecycle, created, active, dormant, destroyed)

constexpr const char* toString(Lifecycle lifecycle) { return enumName(lifecycle).data(); }
Result<Lifecycle> parseLifecycle(std::string_view word);

// Milliseconds since 1970.
struct Schedule {
  std::uint64_t sleepUntil = 0;
  std::optional<std::uint64_t> nextWakeAt;  // none: no wake is due
  // The latest time whose wake has reached an end. It stands in for the clock that "earliest future wake" would need
  // (docs/FINDINGS.md, F2).
  std::uint64_t firedThrough = 0;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

struct Pointers {
  std::optional<std::string> recentHeadMessageId;
  std::optional<std::string> latestSummaryMessageId;

  friend bool operator==(const Pointers&, const Pointers&) = default;
};

WITAN_ENUM(SlotName, primaryGoal, activeTaskId, openLoopIds, preferenceByKey, extension)
inline constexpr std::size_t kSlots = 5;

constexpr const char* toString(SlotName name) { return enumName(name).data(); }
// The value of a slot that was never written, as canonical JSON: null, null, [], {}, {}.
std::string_view defaultValue(SlotName name);

struct Slot {
  std::string value;          // canonical JSON (RFC 8785), any value
  std::uint64_t version = 0;  // grows with every write of the slot; 0: never written
  std::string host;           // who wrote it last: the tie-break of equal versions; empty only with version 0

  friend bool operator==(const Slot&, const Slot&) = default;
};

struct AgentState {
  Lifecycle lifecycle = Lifecycle::created;
  Schedule schedule;
  Pointers pointers;
  std::array<Slot, kSlots> slots;  // by SlotName
  // How far each writer's notification batches have been processed; as a clock, a missing entry is 0.
  VectorClock processedCounterByHost;
  std::uint64_t consecutiveFailureCount = 0;

  AgentState();  // of a new agent: `created`, and the default of every slot

  Slot& slot(SlotName name) { return slots[static_cast<std::size_t>(name)]; }
  const Slot& slot(SlotName name) const { return slots[static_cast<std::size_t>(name)]; }

  friend bool operator==(const AgentState&, const AgentState&) = default;
};

struct AgentSnapshot {
  std::string agentId;
  Dot dot;
  VectorClock vc;  // covers the dot, and nothing later of its writer
  AgentState state;

  friend bool operator==(const AgentSnapshot&, const AgentSnapshot&) = default;
};

}  // namespace witan::replication
