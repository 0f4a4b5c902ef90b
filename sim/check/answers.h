// Answers: what the clients of a partition were told, held against its ledger. Linear but for sorting, so it runs after
// every simulated run; sim/check/linearizability.h is the thorough one.
//
// Each check refuses what none of the others would:
//   every entry has one number, one operation id that no other has (but one turned away for its plan), and an operation
//   that asked for it, under its plan; every answer that names an entry names the one that is there, and says of it
//   what it says
//   (`duplicate` too), unless it was declared lost; what was decided before one asked is answered `duplicate`, not
//   decided or forgotten; who had an answer before another asked has the smaller number; `frozen` is told only while a
//   proposal may have been pending.
// Pure. The ledger is the one that is left in the end.
#pragma once

#include <span>
#include <vector>

#include "sim/check/operation.h"

namespace witan::sim {

// "" or the first thing that is wrong, with the operations and entries it is about.
std::string checkAnswers(std::span<const Operation> operations, std::span<const LedgerLine> ledger,
                         std::span<const LostRange> lost = {});

// ---- decisions that were lost: entries that stand in the log, and those that a device took out of its log and kept

// The operations that were told of an entry which is not among these. An entry is the one that was told of if it has
// the same id, the same act, and the same run and plan; of a duplicate the run and plan may be another's.
std::vector<const Operation*> toldAndGone(std::span<const Operation* const> operations,
                                          std::span<const LedgerLine> entries);

}  // namespace witan::sim
