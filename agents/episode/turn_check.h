// Limits of the values that stand in a transcript, and of an agent's Turn. Agents, tools and people write them. An
// agent may be foreign code, or repeat the answer of a model, so its output is checked like any input. Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "agents/agent.h"
#include "base/json.h"
#include "base/result.h"

namespace witan::agents::episode {

struct ValueLimits {
  std::size_t bytes = 64 * 1024;  // of the canonical form
  std::size_t depth = 32;         // a scalar has depth 0
  std::size_t elements = 10'000;  // of all containers together, fewer than (seed 002, bounded response)
};

// ok if the value has a canonical form (UTF-8, finite numbers) within the limits; the error names `what` and the cause.
// O(value), never deeper than the limit.
Status checkValue(const json::value& value, std::string_view what, ValueLimits limits = {});

// The same for a text: UTF-8, and at most `bytes` as a JSON string.
Status checkText(std::string_view text, std::string_view what, std::size_t bytes);

// --- an agent's turn

inline constexpr std::size_t kMaxThoughts = 16;  // of one turn
inline constexpr std::size_t kMaxThoughtBytes = 16 * 1024;
inline constexpr std::size_t kMaxLooks = 16;    // of one turn
inline constexpr std::size_t kMaxLearned = 64;  // facts, and goals, of one turn
inline constexpr std::size_t kMaxFactText = 4 * 1024;
inline constexpr std::size_t kMaxActions = 256;  // of one plan
inline constexpr std::size_t kMaxPlanBytes = 256 * 1024;
inline constexpr std::size_t kMaxArgumentBytes = 64 * 1024;  // of one call
inline constexpr std::size_t kMaxAnswerBytes = 64 * 1024;
inline constexpr std::size_t kMaxEmissions = 1'000;
inline constexpr std::size_t kMaxEmissionsBytes = 384 * 1024;
inline constexpr std::size_t kMaxSlotsBytes = 384 * 1024;  // of all slots that one turn writes
inline constexpr std::size_t kMaxSigmaBytes = 1024 * 1024;

// A foreign text, for a cause or a message: at most 1 KiB of it, and always UTF-8.
std::string shortText(std::string_view text);

// The error names the malformed part. On return the arguments of actions are canonical JSON. O(turn).
Status checkTurn(Turn& turn);

// The same for a plan, also one that another device made.
Status checkPlan(Actions& actions);

}  // namespace witan::agents::episode
