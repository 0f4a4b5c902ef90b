// The view of a wake run: how far a run has come, whoever ran it.
//
// Statuses form a lattice: any terminal one beats `started`, and of terminal ones completed > failedTerminal >
// skippedDestroyed > skippedSleeping. A view is the maximum over the versions, ties by smallest dot, so a run that
// anybody completed is completed for all. Pure functions of the set of versions, in any order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

bool isTerminal(WakeStatus status);
// The least upper bound.
WakeStatus join(WakeStatus a, WakeStatus b);

struct WakeRunVersion {
  Dot dot;
  WakeRunBody body;
  friend bool operator==(const WakeRunVersion&, const WakeRunVersion&) = default;
};

// The one that stands: higher status, then smaller dot. Associative, commutative, idempotent.
const WakeRunVersion& join(const WakeRunVersion& a, const WakeRunVersion& b);

struct WakeRunView {
  std::optional<WakeRunVersion> run;
  std::size_t attempts = 0;  // versions that say something of it: more than one if devices ran it side by side
  std::vector<Unreadable> unreadable;
  friend bool operator==(const WakeRunView&, const WakeRunView&) = default;
};

// A version of another run key is among `unreadable`.
WakeRunView wakeRunViewOf(const RunKey& runKey, std::span<const Version> versions);

// Whether `next` may be written on top of the view: a run that has ended does not change any more, since a new version
// would replace what its author saw. Errors: conflict, with both statuses; invalidInput for another run.
Status mayRecord(const WakeRunView& view, const WakeRunBody& next);

}  // namespace witan::replication
