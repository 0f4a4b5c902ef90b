// MergeModel: devices that write states of one agent, and get each other's snapshots in any order and as often as they
// come. Once with seed 003's merge, once with our space: what a device holds is the only difference.
//
// Checked in every state: devices that received the same snapshots show the same (theorem 1 of seed 003); and where the
// rule says what must be held, that exactly this is held. No in-memory state is left out: what a device holds is all of
// it (ours is loaded from its rows for every step).
#pragma once

#include <memory>

#include "sim/explore.h"

namespace witan::sim {

struct MergeBounds {
  std::size_t devices = 2;
  std::size_t writesEach = 2;
  std::size_t writes = 4;   // of all together
  std::size_t changes = 2;  // the first so many of MergeChange
};

std::unique_ptr<ExploreModel> literalMergeModel(const MergeBounds& bounds);  // seed 003, section 4
// replication/space.h and replication/records/agent_view.h
std::unique_ptr<ExploreModel> witanMergeModel(const MergeBounds& bounds);

}  // namespace witan::sim
