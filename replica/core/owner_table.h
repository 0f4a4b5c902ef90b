// OwnerTable: the latest claim known for each partition: who owns it, since which epoch.
//
// A join semilattice: learning is taking the greater epoch, so devices that talk to each other agree in the end,
// whatever the order. It is a hint for routing and a fence: whoever has heard of a later epoch neither decides nor
// follows under an earlier one. Rows "c/" + partition of the ledgers' store. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/reflect.h"
#include "replica/core/messages.h"
#include "store/store.h"

namespace witan::node {

class OwnerTable {
 public:
  // Leaves out claims that checkOwnershipRecord() refuses for their number, whatever is known. Errors: corrupt, naming
  // the row.
  Status load(const store::Reader& store);

  // Null: nobody is known to own it.
  const OwnershipRecord* find(std::string_view partition) const;
  // 0: none is known.
  std::uint64_t latestEpoch(std::string_view partition) const;
  // Keeps the greater epoch; whether that was news. A row goes to `out` then.
  bool learn(const OwnershipRecord& claim, store::WriteBatch& out);
  const std::map<std::string, OwnershipRecord, std::less<>>& all() const { return claims_; }

 private:
  std::map<std::string, OwnershipRecord, std::less<>> claims_;
};

// Errors: no partition id, no writer as the owner, number 0 or more than kernel::kMaxEpochStep beyond `known`.
Status checkOwnershipRecord(const OwnershipRecord& claim, std::uint64_t known);

// What this device sees of the owner of a partition. lost: the owner's ledgers are gone or rolled back, so it decides
// no more, or its log holds a decision that the rules do not give, so this device refuses it. An operator must then
// seize the partition (embedded mode only).
WITAN_ENUM(OwnerState, unknown, here, reachable, away, lost)

}  // namespace witan::node
