// The fault budget: what the cluster promises to survive, and so the most that makePlan lets happen at once.
//
//   1. At most a minority of the ledger replicas (the first `ledgerReplicas` devices) is out at the same time.
//   2. Never is every device out at the same time.
//   3. At most a minority of the devices is retired, ever, and of the ledger replicas too.
//   4. No disk is lost before kFounding: what a founder has nobody else has yet.
//   5. One that keeps its disk may always be out, also where it is the only ledger replica or the only device.
//   6. While a disk is lost, a device that lies is out too; and it counts as retired, since it is in the end.
//
// Out is a device that is down (crash, write crash, I/O error, full disk) and one whose disk was lost or went back to
// an earlier copy, until kRefill after it starts again: it needs the others to become whole. A retired one is out for
// ever. Pauses, clocks and the network are not counted: they may take as long and as many as they like.
// Pure function; nothing is kept.
#pragma once

#include <vector>

#include "sim/plan.h"

namespace witan::sim {

inline constexpr Micros kFounding = 60'000'000;
// How long a device that lost its disk counts as out after its start.
inline constexpr Micros kRefill = 120'000'000;
// A write crash and an I/O error strike at one of the next writes: they are counted from the event until so long later.
inline constexpr Micros kStrikeWithin = 30'000'000;

// `drawn` without the events that would exceed the budget, the earlier ones first, merged with `fixed`; by time.
// Fixed events count, but stay.
std::vector<Event> withinBudget(const ClusterOptions& cluster, std::vector<Event> drawn,
                                const std::vector<Event>& fixed);

}  // namespace witan::sim
