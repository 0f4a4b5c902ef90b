// Proofs over complete subtrees, and the verifiers, which share nothing with the provers but nodeHash.
#include <algorithm>
#include <bit>
#include <string>

#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

// The root of the leaves [begin, end), where begin is a multiple of a power of two >= end - begin: every range that
// RFC 6962's recursion meets is of that form, and thus a run of complete subtrees of falling size.
Result<Hash> rangeRoot(std::uint64_t begin, std::uint64_t end, const HashReader& reader) {
  std::vector<Hash> peaks;
  while (begin < end) {
    const std::uint64_t width = std::bit_floor(end - begin);
    const auto level = static_cast<unsigned>(std::countr_zero(width));
    WITAN_TRY(peak, reader.subtree(level, begin >> level));
    peaks.push_back(peak);
    begin += width;
  }
  if (peaks.empty()) return emptyRoot();
  Hash root = peaks.back();
  for (std::size_t i = peaks.size() - 1; i > 0; --i) root = nodeHash(peaks[i - 1], root);
  return root;
}

// The largest power of two smaller than n. Requires: n >= 2.
std::uint64_t splitPoint(std::uint64_t n) { return std::bit_floor(n - 1); }

bool odd(std::uint64_t n) { return (n & 1) != 0; }

// The inner step of both RFC 9162 algorithms: drop levels at which the node is a last, unpaired left child.
void skipUnpaired(std::uint64_t& node, std::uint64_t& last) {
  while (!odd(node) && node != 0) {
    node >>= 1;
    last >>= 1;
  }
}

}  // namespace

Result<Hash> rootAt(std::uint64_t size, const HashReader& reader) {
  if (size > maxTreeSize) return invalid("merkle tree: size above 2^63 - 1");
  return rangeRoot(0, size, reader);
}

Result<std::vector<Hash>> inclusionProof(std::uint64_t index, std::uint64_t size, const HashReader& reader) {
  if (size > maxTreeSize) return invalid("inclusion proof: size above 2^63 - 1");
  if (index >= size) {
    return invalid("inclusion proof: no leaf " + std::to_string(index) + " in a tree of " + std::to_string(size));
  }
  std::vector<Hash> path;
  std::uint64_t begin = 0;
  std::uint64_t end = size;
  while (end - begin > 1) {
    const std::uint64_t middle = begin + splitPoint(end - begin);
    const bool left = index < middle;
    WITAN_TRY(sibling, left ? rangeRoot(middle, end, reader) : rangeRoot(begin, middle, reader));
    path.push_back(sibling);
    (left ? end : begin) = middle;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Result<std::vector<Hash>> consistencyProof(std::uint64_t first, std::uint64_t second, const HashReader& reader) {
  if (second > maxTreeSize) return invalid("consistency proof: size above 2^63 - 1");
  if (first > second) {
    return invalid("consistency proof: the old size " + std::to_string(first) + " is above the new size " +
                   std::to_string(second));
  }
  std::vector<Hash> path;
  if (first == 0) return path;
  std::uint64_t begin = 0;
  std::uint64_t end = second;
  while (end != first) {  // SUBPROOF of RFC 6962: the old tree ends at leaf `first` all the way down
    const std::uint64_t middle = begin + splitPoint(end - begin);
    const bool left = first <= middle;
    WITAN_TRY(sibling, left ? rangeRoot(middle, end, reader) : rangeRoot(begin, middle, reader));
    path.push_back(sibling);
    (left ? end : begin) = middle;
  }
  if (begin != 0) {  // otherwise this subtree is the whole old tree, whose root the verifier has
    WITAN_TRY(shared, rangeRoot(begin, end, reader));
    path.push_back(shared);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

bool verifyInclusion(const Hash& leaf, std::uint64_t index, std::uint64_t size, std::span<const Hash> path,
                     const Hash& root) {
  if (index >= size) return false;
  std::uint64_t node = index;     // fn of the RFC
  std::uint64_t last = size - 1;  // sn
  Hash reached = leaf;
  for (const Hash& sibling : path) {
    if (last == 0) return false;
    if (odd(node) || node == last) {
      reached = nodeHash(sibling, reached);
      skipUnpaired(node, last);
    } else {
      reached = nodeHash(reached, sibling);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && reached == root;
}

bool verifyConsistency(std::uint64_t first, std::uint64_t second, const Hash& firstRoot, const Hash& secondRoot,
                       std::span<const Hash> path) {
  if (first > second) return false;
  if (second == 0 && secondRoot != emptyRoot()) return false;
  if (first == second) return path.empty() && firstRoot == secondRoot;
  if (first == 0) return path.empty() && firstRoot == emptyRoot();
  // A power of two is one complete subtree of the new tree: its root starts the path without being sent.
  const bool implied = std::has_single_bit(first);
  if (!implied && path.empty()) return false;
  Hash oldReached = implied ? firstRoot : path.front();
  if (!implied) path = path.subspan(1);
  Hash newReached = oldReached;
  const auto shared = static_cast<unsigned>(std::countr_one(first - 1));
  std::uint64_t node = (first - 1) >> shared;
  std::uint64_t last = (second - 1) >> shared;
  for (const Hash& sibling : path) {
    if (last == 0) return false;
    if (odd(node) || node == last) {
      oldReached = nodeHash(sibling, oldReached);
      newReached = nodeHash(sibling, newReached);
      skipUnpaired(node, last);
    } else {
      newReached = nodeHash(newReached, sibling);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && oldReached == firstRoot && newReached == secondRoot;
}

}  // namespace witan::kernel
