// The Merkle tree of a ledger: RFC 6962 section 2.1 hashes, an appendable tree head, proofs and their verifiers.
//
// Who may call: the ledger (appends, proofs), `witan ledger verify` and anyone who checks a proof. Pure functions and
// value types; nothing here reads a clock, a file or a socket. A HashReader must outlive the call it is passed to.
//
// A root does not say how many leaves it covers: take size and root together, from one signed checkpoint. The
// verifiers bind hashes to positions *given* the size (index 0 of 3 and index 0 of 4 have paths of the same shape).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

namespace witan::kernel {

// Leaves per tree. Half of the range of the type, so that rounding up to a power of two cannot overflow.
inline constexpr std::uint64_t maxTreeSize = (std::uint64_t{1} << 63) - 1;

// SHA-256(0x00 || entry). Does not copy the entry. O(bytes).
Hash leafHash(std::string_view entry);
// SHA-256(0x01 || left || right).
Hash nodeHash(const Hash& left, const Hash& right);
// The root of a tree without leaves: SHA-256("").
Hash emptyRoot();

// The root of the complete subtree over the leaves [index << level, (index + 1) << level).
struct Subtree {
  unsigned level = 0;
  std::uint64_t index = 0;
  Hash hash{};

  friend bool operator==(const Subtree&, const Subtree&) = default;
};

// Access to the roots of complete subtrees; level 0 holds the leaf hashes. The set that a frontier reports while it
// grows (append's `completed`) answers every question that the functions below ask about trees up to its size.
class HashReader {
 public:
  virtual ~HashReader() = default;
  virtual Result<Hash> subtree(unsigned level, std::uint64_t index) const = 0;
};

// The head of a growing tree: the roots of its largest complete subtrees, O(log n) memory.
class MerkleFrontier {
 public:
  // Adds a leaf. One nodeHash amortised, log2(size) at worst. `completed` receives the subtrees that this leaf
  // completes, the leaf itself first: at most 64 per call, two per leaf on average.
  // Requires: size() < maxTreeSize.
  void append(const Hash& leaf, std::vector<Subtree>* completed = nullptr);

  std::uint64_t size() const { return size_; }

  // O(log n).
  Hash root() const;

  // Eight bytes of size, big-endian, then the popcount(size) subtree roots, largest subtree first. Exactly one byte
  // string per frontier; parse refuses every other.
  std::string serialise() const;
  static Result<MerkleFrontier> parse(std::string_view bytes);

  // The frontier of the first `size` leaves. O(log n) reads.
  static Result<MerkleFrontier> load(std::uint64_t size, const HashReader& reader);

  friend bool operator==(const MerkleFrontier&, const MerkleFrontier&) = default;

 private:
  std::uint64_t size_ = 0;
  std::vector<Hash> peaks_;  // one per set bit of size_, largest subtree first
};

// A whole tree in memory, every level cached: for verifying an export, for small ledgers, for tests.
class MemoryTree final : public HashReader {
 public:
  MemoryTree() = default;
  explicit MemoryTree(std::span<const Hash> leaves);

  void append(const Hash& leaf);
  std::uint64_t size() const { return frontier_.size(); }
  Hash root() const { return frontier_.root(); }
  Result<Hash> subtree(unsigned level, std::uint64_t index) const override;

 private:
  MerkleFrontier frontier_;
  std::vector<std::vector<Hash>> levels_;
};

// The root of the first `size` leaves (MTH of RFC 6962 section 2.1). O(log n) reads.
Result<Hash> rootAt(std::uint64_t size, const HashReader& reader);

// PATH(index, D[size]) of RFC 6962 section 2.1.1, leaf to root. O(log n) reads.
Result<std::vector<Hash>> inclusionProof(std::uint64_t index, std::uint64_t size, const HashReader& reader);

// PROOF(first, D[second]) of RFC 6962 section 2.1.2. O(log n) reads. Empty for first == second, and for first == 0:
// every tree extends the empty one.
Result<std::vector<Hash>> consistencyProof(std::uint64_t first, std::uint64_t second, const HashReader& reader);

// RFC 9162 section 2.1.3.2: the root to which `path` leads from the leaf. None: no path of a leaf at `index` of `size`.
[[nodiscard]] std::optional<Hash> pathRoot(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                           std::span<const Hash> path);
// True iff `path` leads from the leaf at `index` of a tree of `size` leaves to `root`.
[[nodiscard]] bool verifyInclusion(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                   std::span<const Hash> path, const Hash& root);

// RFC 9162 section 2.1.4.2. True iff the tree of `second` leaves extends the tree of `first` leaves. The RFC leaves
// out two cases: equal sizes need equal roots and an empty path; first == 0 needs emptyRoot() and an empty path.
[[nodiscard]] bool verifyConsistency(std::uint64_t first, std::uint64_t second, const Hash& firstRoot,
                                     const Hash& secondRoot, std::span<const Hash> path);

}  // namespace witan::kernel
