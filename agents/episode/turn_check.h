// What an agent may answer: the limits of a Turn. An agent is a program of somebody else, or asks a model and repeats
// what it says, so its output is checked like any input. Pure functions.
#pragma once

#include "agents/agent.h"
#include "base/result.h"

namespace witan::agents::episode {

inline constexpr std::size_t kMaxThoughts = 16;  // of one turn
inline constexpr std::size_t kMaxThoughtBytes = 16 * 1024;
inline constexpr std::size_t kMaxLooks = 16;     // of one turn
inline constexpr std::size_t kMaxActions = 256;  // of one plan
inline constexpr std::size_t kMaxPlanBytes = 256 * 1024;
inline constexpr std::size_t kMaxArgumentBytes = 64 * 1024;  // of one call
inline constexpr std::size_t kMaxAnswerBytes = 64 * 1024;
inline constexpr std::size_t kMaxSlotsBytes = 384 * 1024;  // of all slots that one turn writes
inline constexpr std::size_t kMaxSigmaBytes = 1024 * 1024;

// Of what somebody else wrote, for a cause or a message: at most 1 KiB of it, and always UTF-8.
std::string shortText(std::string_view text);

// ok, or what is malformed; the error names the part. On return the arguments of actions are canonical JSON. O(turn).
Status checkTurn(Turn& turn);

// The same for a plan, also one that another device made.
Status checkPlan(Actions& actions);

}  // namespace witan::agents::episode
