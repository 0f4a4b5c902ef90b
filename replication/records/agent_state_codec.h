// An agent's state as bytes: what is stored, sent and fingerprinted. One state by one writer is one byte string.
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
//   processed counters  varint 2 * (counters of other hosts than the body's writer), + 1 if it has one of its own; its
//                     own; then the others by host: id text, varint
// A mask bit that this build does not know is an error: a field would be lost otherwise.
//
// Pure functions, any thread; arguments are borrowed for the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_schemas.h"
#include "replication/vector_clock.h"

namespace witan::replication {

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
};
inline constexpr unsigned kStateFields = 13;

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
