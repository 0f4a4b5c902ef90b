// FoldedLog: what a device signs of all that its copy of a partition's log adds up to, so that a copy which lacks the
// first entries can be held against it (replica/base_transfer.h).
//
// A checkpoint whose origin says that it is of a copy, no head of a log (kernel::kCopyStatement), with the line
//   folded <batches> <SHA-256, hex> <bytes>
// The digest is over the digest of each batch (LogHashChain), the batches in which epochs begin, and
// Partition::folded(); the bytes are those of the latter. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/crypto.h"
#include "replica/core/partition_host.h"

namespace witan::node {

struct FoldedLog {
  std::uint64_t batches = 0;
  std::uint64_t entries = 0;
  Hash digest{};
  std::uint64_t bytes = 0;
  std::string note;
};

// Of the whole copy. O(states + operations log + batches). Requires: the copy shows its log. Errors: of the store.
Result<FoldedLog> foldLog(const PartitionHost& host);
// With its note. `origin`: of the ledger.
Result<std::string> signFolded(const FoldedLog& log, const Hash& root, const std::string& origin,
                               const SigningKey& key);
// Any bytes. Errors: no such note of this ledger; unauthorised, by none of the keys.
Result<FoldedLog> openFolded(const std::string& note, const std::string& origin, std::span<const PublicKey> keys);

}  // namespace witan::node
