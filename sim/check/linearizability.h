// Linearizability: is there one order of the operations of a partition, which respects who had an answer before whom
// asked, in which every client was told what the rules say (sim/check/adjudication_model.h)?
//
// Wing and Gong's search with Lowe's memory of what was tried (a set of operations done, and the state they left), one
// search for each group of entities that share an operation id: others don't touch each other (Herlihy and Wing,
// locality). An operation that fits and changes nothing is put in place at once; entries whose numbers are known come
// in their order. So a history with its ledger is decided in about as many steps as it has operations; without, the
// worst case is exponential, and the search gives up after `maxStates`. Within a second: 10,000 operations with their
// ledger; without, 1,000 of 8 clients at once on one entity, or 200 of 12.
//
// Pure. For every run there is sim/check/answers.h, which is linear.
#pragma once

#include "sim/check/adjudication_model.h"

namespace witan::sim {

WITAN_ENUM(HistoryVerdict, linearizable, notLinearizable, undecided)

struct HistoryOptions {
  std::int64_t pendingTtlMicros = 0;  // as the partition's
  std::uint64_t maxStates = 1'000'000;
  // Answers of an epoch with losses are left out where they are lost or rest on what may be.
  std::vector<LostRange> lost;
};

struct HistoryReport {
  HistoryVerdict verdict = HistoryVerdict::linearizable;
  std::string reason;        // the shortest explanation; empty if linearizable
  std::uint64_t states = 0;  // explored
};

// `operations` of one partition, in any order; borrowed.
HistoryReport checkLinearizability(const kernel::DomainModule&, std::span<const Operation> operations,
                                   const HistoryOptions& = {});

}  // namespace witan::sim
