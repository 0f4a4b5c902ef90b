// What clients were told is decided, held against what is left: entries that stand in the log, and those that a device
// took out of its log and kept. Pure.
#pragma once

#include <span>
#include <vector>

#include "sim/check/operation.h"

namespace witan::sim {

// The operations that were told of an entry which is not among these. An entry is the one that was told of if it has
// the same id, the same act, and the same run and plan; of a duplicate the run and plan may be another's.
std::vector<const Operation*> toldAndGone(std::span<const Operation* const> operations,
                                          std::span<const LedgerLine> entries);

}  // namespace witan::sim
