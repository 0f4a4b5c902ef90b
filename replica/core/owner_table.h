// OwnerTable: the latest claim known for each partition: who owns it, since which epoch.
//
// A join semilattice: learning is taking the greater epoch, so devices that talk to each other agree in the end,
// whatever the order. It is a hint for routing and a fence: whoever has heard of a later epoch neither decides nor
// follows under an earlier one. Which claims of peers count is for the caller to say (replica/core/owner_proofs.h).
// Rows of the ledgers' store: "c/" + partition -> the latest claim; "e/" + partition + "/" + epoch -> a signed one.
// Not thread-safe.
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
  // A signed claim of that epoch, or the latest one. Null: it is not known.
  const OwnershipRecord* find(std::string_view partition, const kernel::Epoch& epoch) const;
  // All signed ones of later epochs, in order.
  std::vector<const OwnershipRecord*> after(std::string_view partition, const kernel::Epoch& epoch) const;
  // 0: none is known.
  std::uint64_t latestEpoch(std::string_view partition) const;
  // Keeps the greater epoch, of one epoch the signed claim; whether that was news. Keeps each signed claim besides.
  // Rows go to `out`.
  bool learn(const OwnershipRecord& claim, store::WriteBatch& out);
  const std::map<std::string, OwnershipRecord, std::less<>>& all() const { return claims_; }
  // Of the latest epochs: devices with the same one know the same owners. Never 0. Linear in the partitions.
  std::uint64_t digest() const;

 private:
  void keepSigned(const OwnershipRecord& claim, store::WriteBatch& out);

  std::map<std::string, OwnershipRecord, std::less<>> claims_;
  std::map<std::string, std::map<kernel::Epoch, OwnershipRecord>, std::less<>> signed_;
};

// Errors: no partition id, no writer as the owner, number 0 or more than kernel::kMaxEpochStep beyond `known`.
Status checkOwnershipRecord(const OwnershipRecord& claim, std::uint64_t known);

// What this device sees of the owner of a partition. lost: the owner's ledgers are gone or rolled back, so it decides
// no more, or its log holds a decision that the rules do not give, so this device refuses it. An operator must then
// seize the partition (embedded mode only).
WITAN_ENUM(OwnerState, unknown, here, reachable, away, lost)

}  // namespace witan::node
