// Replay: the transcript made anew from what came from outside, and compared byte for byte (seed 004, section 3.4,
// "deterministic replay boundary"). Needs the agent that made it, in the same version, and nothing else: seed, policy
// epoch with its verdicts, locale, tools and answers are in the transcript. Pure; O(transcript).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "agents/agent.h"
#include "agents/episode/transcript.h"
#include "base/result.h"

namespace witan::agents::episode {

// Where the recorded and the derived transcript part.
struct Difference {
  std::uint64_t entry = 0;
  std::string why;
  std::string recorded, derived;  // contents; empty: there is none
  friend bool operator==(const Difference&, const Difference&) = default;
};

struct Replay {
  std::uint64_t entries = 0;             // that were recorded
  bool ended = false;                    // the last one ends the run
  std::optional<Difference> difference;  // the first; none: equal byte for byte
  bool reproduced() const { return ended && !difference; }
};

// Errors: notFound, an empty transcript; conflict, it was made by another agent or version.
Result<Replay> replay(const Agent& agent, std::span<const std::string> contents);

}  // namespace witan::agents::episode
