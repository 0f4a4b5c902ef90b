// What the codec and the field deltas of an agent's state (replication/records/agent_state_codec.h, which describes the
// bytes) have in common. For those two only.
#pragma once

#include <string_view>

#include "base/dense.h"
#include "base/identity.h"
#include "replication/records/agent_state_codec.h"

namespace witan::replication::layout {

inline constexpr std::string_view kName = "agent state";

// The first byte of a slot.
inline constexpr unsigned kValueMask = 3;
inline constexpr unsigned kDefaultValue = 0;
inline constexpr unsigned kIdTextValue = 1;
inline constexpr unsigned kJsonValue = 2;
inline constexpr unsigned kHostIsSelf = 4;
inline constexpr unsigned kVersionShift = 3;
inline constexpr unsigned kLongVersion = 31;

constexpr StateField fieldAt(unsigned index) { return static_cast<StateField>(index); }
constexpr bool isSlot(StateField f) { return f >= StateField::primaryGoal && f <= StateField::extension; }
constexpr SlotName slotOf(StateField f) {
  return static_cast<SlotName>(static_cast<unsigned>(f) - static_cast<unsigned>(StateField::primaryGoal));
}

// The bytes of a field that has its default: in a body they are left out, in a delta they are written.
constexpr std::string_view defaultBytes(StateField f) {
  constexpr std::string_view kZeros("\0\0\0", 3);
  if (isSlot(f)) return kZeros;
  const bool pointer = f == StateField::recentHeadMessageId || f == StateField::latestSummaryMessageId;
  return kZeros.substr(0, pointer ? 2 : 1);
}

inline std::uint32_t readMask(DenseReader& in) {
  const std::uint64_t mask = in.varint();
  if (mask >> kStateFields != 0) in.fail("a newer version of Witan wrote fields that this one does not know");
  return in.ok() ? static_cast<std::uint32_t>(mask) : 0;
}

}  // namespace witan::replication::layout
