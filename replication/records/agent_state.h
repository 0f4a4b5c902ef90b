// The durable, synchronised state of one agent (seed 003, sections 2.1 and 2.2).
//
// A snapshot is this state as one writer left it, with the dot of the commit that wrote it and a vector clock of what
// its author had seen. A replica holds the antichain of snapshots and shows a view of it
// (replication/records/agent_view.h). Values and pure functions, any thread; arguments are borrowed for the call.
// replication/records/agent_state_json.h has the form for people and tools.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/reflect.h"
#include "base/result.h"
#include "replication/records/record_schemas.h"
#include "replication/vector_clock.h"

namespace witan::replication {

// Versions, counters and times fit into a signed 64-bit integer, so that every reader of the JSON form can hold them.
inline constexpr std::uint64_t kMaxStateCounter = ~std::uint64_t{0} >> 1;
inline constexpr std::size_t kMaxSlotBytes = 256 * 1024;  // of one slot's value
inline constexpr std::size_t kMaxSlotDepth = 32;          // of one slot's value
inline constexpr std::size_t kMaxClockEntries = 4'096;    // as many as there may be writers
inline constexpr std::size_t kMaxTimers = 256;            // of one agent

// In the order of precedence (003, section 4.2, rule 2): the later wins.
WITAN_ENUM(Lifecycle, created, active, dormant, destroyed)

constexpr const char* toString(Lifecycle lifecycle) { return enumName(lifecycle).data(); }
Result<Lifecycle> parseLifecycle(std::string_view word);

// What wakes it: everything that it is made for, or people only.
WITAN_ENUM(AgentMode, autonomous, interactive)
Result<AgentMode> parseAgentMode(std::string_view word);

// One timer of the schedule, which all devices share: a wake that fired on one of them has fired, also when the record
// of its run is gone, and whoever sets another interval sets it everywhere. In milliseconds.
struct TimerState {
  std::uint64_t firedThrough = 0;  // the latest multiple whose wake has reached an end
  std::uint64_t everyMs = 0;       // if it was set: 0 for off; else its specification's counts
  std::uint64_t version = 0;       // grows each time that it is set; 0: never
  std::string host;                // who set it last; empty only with version 0

  friend bool operator==(const TimerState&, const TimerState&) = default;
};

// Milliseconds since 1970.
struct Schedule {
  std::uint64_t sleepUntil = 0;
  std::optional<std::uint64_t> nextWakeAt;  // none: no wake is due
  // The latest time whose wake has reached an end. It stands in for the clock that "earliest future wake" would need
  // (docs/FINDINGS.md, F2).
  std::uint64_t firedThrough = 0;
  std::map<std::string, TimerState, std::less<>> timers = {};  // of those that fired or were set

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
  AgentMode mode = AgentMode::autonomous;

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

// --- The state as bytes, which are stored, sent and fingerprinted. One state by one writer is one byte string.
//
// A body is a mask of the fields that differ from their default, then those fields in the order of StateField
// (base/dense.h has the integers and texts). A field delta is a mask of the fields that changed since an earlier body
// of the same writer, then those fields, also those that went back to their default.
//   lifecycle         one byte
//   times, failures   varint; nextWakeAt: 0 for none, else one more than it
//   pointer           id text; empty for none
//   slot              one byte: bits 0-1 value (0 the slot's default, 1 id text of a string without escapes, 2 any
//                     other canonical JSON as text), bit 2 set if its host is the body's writer, bits 3-7 version, or
//                     31; then a varint version - 31 if so; then the host as id text unless it is the writer; the value
//   mode              one byte
//   timers            varint count; then by name, each: id text, varint fired through, interval and version, and the
//                     host as id text if the version is not 0
//   processed counters  varint 2 * (counters of other hosts than the body's writer), + 1 if it has one of its own; its
//                     own; then the others by host: id text, varint
// A mask bit that this build does not know is an error: a field would be lost otherwise.

// The bits of a mask. Stored and sent: never renumber.
enum class StateField : std::uint8_t {
  lifecycle,
  sleepUntil,
  nextWakeAt,
  firedThrough,
  recentHeadMessageId,
  latestSummaryMessageId,
  primaryGoal,
  activeTaskId,
  openLoopIds,
  preferenceByKey,
  extension,
  processedCounters,
  consecutiveFailures,
  mode,
  timers,
};
inline constexpr unsigned kStateFields = 15;

constexpr std::uint32_t bitOf(StateField field) { return std::uint32_t{1} << static_cast<unsigned>(field); }

// `self`: the host of the snapshot's dot. Requires: counters up to kMaxStateCounter, slot values in canonical JSON.
std::string encodeAgentState(const AgentState& state, std::string_view self);

// Strict: refuses what encodeAgentState would not have written. Errors: invalid, with the byte and the cause.
Result<AgentState> decodeAgentState(std::string_view bytes, std::string_view self);

// The fields in which two bodies of one writer differ; 0 also if one of them is no body (a tombstone has none): nothing
// can be said in fields then. O(bytes), without building a state, as the next two.
std::uint32_t changedFields(std::string_view before, std::string_view after);

// Appends the delta of `fields` from a body. Requires: decodeAgentState reads the body; no bit from kStateFields on.
void appendFieldDelta(std::string& out, std::string_view body, std::uint32_t fields);

// The body that the delta's author had, if `base` is the one it counts from. The frame of every field is checked, its
// content is not: decodeAgentState of the result does that. Errors: invalid, naming which of the two and the cause.
Result<std::string> applyFieldDelta(std::string_view base, std::string_view delta);

// A snapshot as a version of record kind agentState, and back.
Version toVersion(const AgentSnapshot& snapshot);
Result<AgentSnapshot> toSnapshot(std::string_view agentId, const Version& version);

}  // namespace witan::replication
