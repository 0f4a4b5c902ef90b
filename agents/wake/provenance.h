// Provenance: what a run writes into the notification batch of its own commits, so that loops of agents end.
//
// Two typed tokens of the batch (seed 003, 3.1), which replicate with it, so every device judges alike:
//   subtypeToken|run.agent|{agentId}   whose run made the change
//   subtypeToken|run.hops|{n}          how many runs lie between this one and what somebody outside did
// An agent's own changes do not wake it (unless a subscription asks for them), and a chain A -> B -> A ends after a
// bounded number of runs. They are no part of any identity. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/notification.h"

namespace witan::agents {

inline constexpr std::string_view kRunAgentNamespace = "run.agent";
inline constexpr std::string_view kRunHopsNamespace = "run.hops";
// More than any chain has: what a malformed token counts as, so that it wakes nobody for ever.
inline constexpr std::uint64_t kEndlessHops = 1'000'000;

struct Provenance {
  std::string agentId;
  std::uint64_t hops = 0;  // of the run that made the change
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// For the batches of a run's commits. Requires: a valid agent id.
std::vector<NotificationToken> provenanceTokens(const Provenance& provenance);

// None: no run made it. A batch with one of the two tokens only, or with a number that is none, counts as the end of a
// chain.
std::optional<Provenance> provenanceOf(const replication::NotificationBatch& batch);

}  // namespace witan::agents
