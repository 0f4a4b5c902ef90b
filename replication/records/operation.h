// The view of an operation: whether it was carried out in one database, whoever did it (seed 003, 6.2 and 7).
//
// The record stands in the same commit as the operation's effect, so in each database it is there if and only if the
// effect is. Two devices that were cut off may both carry out one operation of one plan: that is one logical mutation
// with two records. The one with the smallest dot is shown everywhere, of those that say it was applied if there are
// any. Pure functions of the set of versions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replication/records/records.h"

namespace witan::replication {

struct OperationRecord {
  Dot dot;
  OperationBody body;
  friend bool operator==(const OperationRecord&, const OperationRecord&) = default;
};

struct OperationView {
  std::optional<OperationRecord> record;
  std::vector<Dot> repeats;  // by other devices
  std::vector<Unreadable> unreadable;
  friend bool operator==(const OperationView&, const OperationView&) = default;
};

// A version of another operation is among `unreadable`.
OperationView operationViewOf(const OperationId& operation, std::span<const Version> versions);

}  // namespace witan::replication
