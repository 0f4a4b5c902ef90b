// What proves who owns a partition and who wrote its log, to devices that believe no peer (docs/SECURITY.md).
//
//   signed claim   An ownership record that the owner's device has signed. Where keys are known (ReplicaConfig::heads),
//                  no other claim of a peer counts.
//   batch seal     The owner's signature of a batch and of the whole log before it. One signature covers all batches
//                  that leave the owner in a round: they are leaves of a tree, and a seal has the path of its leaf.
//
// Claims and seals are pure functions. A SealBook belongs to one replica; the store outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crypto.h"
#include "replica/core/messages.h"
#include "replica/core/round_signature.h"
#include "store/store.h"

namespace witan::node {

class HeadKeys;
class OwnerTable;
class PartitionHost;

using Bytes = std::vector<std::uint8_t>;

// What the owner's device signs. Requires: checkOwnershipRecord().
std::string claimText(std::string_view cluster, const OwnershipRecord& claim);
void signClaim(std::string_view cluster, OwnershipRecord& claim, const SigningKey& key);

// Whether the owner's device signed the claim, and
//   the roster lets the device take partitions over;
//   or the epoch before it is known and names this owner as its successor;
//   or the epoch before it is this owner's own, and this one only hands over;
//   or the latest known claim names it as the epoch before, or is the same without a signature.
// What is not proven is no lie: the roster that proves it may be on its way.
bool isProven(std::string_view cluster, const OwnershipRecord& claim, const HeadKeys& keys, const OwnerTable& known);

struct BatchSeal {
  std::uint64_t number = 0;
  std::string owner;
  std::uint64_t batches = 0;
  Hash chain{};
  Hash value{};
  std::uint64_t index = 0;
  std::uint64_t size = 0;
  Hash root{};
  Bytes path;
  Bytes signature;
  std::uint16_t format = 0;  // of the epoch (kernel/epoch.h)
  std::uint64_t run = 0;     // of the owner when it signed (ReplicaState::run); proven from kSignedBeginnings on
  WITAN_MEMBERS(BatchSeal, number, owner, batches, chain, value, index, size, root, path, signature, format, run)
  kernel::Epoch epoch() const { return {number, owner}; }
};

// Whether one of the keys signed it.
bool holdsSeal(std::string_view cluster, std::string_view partition, const BatchSeal& seal,
               std::span<const PublicKey> keys, kernel::SignatureMemo& memo);

// Completes the seal when the round is signed.
void sealWith(RoundSignature& round, std::string_view cluster, std::string_view partition, BatchSeal& seal);
// Completes seals that leave together, each of the partition beside it.
void sealTogether(std::string_view cluster, std::span<const std::pair<std::string, BatchSeal*>> seals,
                  const SigningKey& key);

// SealBook: the seals of batches that other devices wrote. Rows "z/" + partition + "/" + big-endian number of the batch
// in the ledgers' store, of use only where they are of the batch that stands there.
// Of a partition, in the ledgers' store.
std::string sealRowsOf(std::string_view partition);

class SealBook {
 public:
  explicit SealBook(const store::Store& ledgers) : ledgers_(ledgers) {}

  void keep(const std::string& partition, std::uint64_t batch, Bytes seal, store::WriteBatch& out);
  // Empty: none. The last one of a partition may not be written yet.
  Bytes find(std::string_view partition, std::uint64_t batch) const;
  // Its rows are gone.
  void forget(const std::string& partition) { last_.erase(partition); }

 private:
  const store::Store& ledgers_;
  std::map<std::string, std::pair<std::uint64_t, Bytes>, std::less<>> last_;
};

// Whether a log on this disk is what its owners sealed, also where no leaf shows it: in records of epochs, and in
// beginnings. In words what is not; empty: nothing that is known. O(log), which is read again.
std::string alteredSince(const SealBook& seals, const PartitionHost& host, std::string_view cluster,
                         const std::function<std::vector<PublicKey>(std::string_view device)>& keysOf);

}  // namespace witan::node
