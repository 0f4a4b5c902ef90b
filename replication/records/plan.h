// The view of a plan: of the plans that cut-off devices made for one run key, the one that counts (docs/FINDINGS.md,
// F3).
//
// The same wake planned twice gives different actions, hence different operation ids, and nothing would stop both from
// being carried out. The plan with the smallest dot (host, counter) wins everywhere; what a loser did and the winner
// does not do is undone by compensations, whose ids derive from the operations, so that every device compensates alike
// and once. Pure functions of the set of versions, in any order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

struct Plan {
  Dot dot;
  PlanBody body;
  std::vector<OperationId> operations;  // of its actions, in order; a repeated action has an id of its own
  PlanDigest digest;
  friend bool operator==(const Plan&, const Plan&) = default;
};

Result<std::vector<OperationId>> operationsOf(const PlanBody& body);

struct PlanView {
  std::optional<Plan> winner;
  std::vector<Plan> losers;  // with another digest than the winner's, by dot
  std::vector<Dot> repeats;  // the winner's plan again
  std::vector<Unreadable> unreadable;
  friend bool operator==(const PlanView&, const PlanView&) = default;
};

// A version of another run key is among `unreadable`.
PlanView planViewOf(const RunKey& runKey, std::span<const Version> versions);

struct Compensation {
  OperationId operation;
  OperationId compensation;
  friend bool operator==(const Compensation&, const Compensation&) = default;
};

// What must be undone if it was done: the losers' operations that are not the winner's, each once, by operation id.
std::vector<Compensation> compensationsOf(const PlanView& view);

}  // namespace witan::replication
