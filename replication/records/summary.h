// The view of a summary id: which text stands for a span of messages when several were written (docs/FINDINGS.md, F4).
//
// "First committed wins" (seed 003, section 8) means something else on each replica. Here the causally first wins, of
// several the one with the smallest dot: a pure function of the set of versions. The others stay, as diagnostics; no
// pointer moves. What was first is read from the rank in the body, not from contexts: these get shorter once everybody
// has them, at a different time on each replica.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

struct SummaryVersion {
  Dot dot;
  SummaryBody body;
  friend bool operator==(const SummaryVersion&, const SummaryVersion&) = default;
};

struct SummaryView {
  std::optional<SummaryVersion> winner;
  std::vector<SummaryVersion> conflicts;  // other content than the winner's, by rank and dot
  std::vector<Dot> repeats;               // the winner's content again
  std::vector<Unreadable> unreadable;
  friend bool operator==(const SummaryView&, const SummaryView&) = default;
};

// Errors are none; a version of another summary id is among `unreadable`.
SummaryView summaryViewOf(const SummaryId& id, std::span<const Version> versions);

Result<SummaryId> summaryIdOf(const SummaryBody& body);

// The rank that a new version written on top of this view must carry.
std::uint64_t nextRank(const SummaryView& view);

}  // namespace witan::replication
