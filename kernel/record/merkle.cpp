#include "kernel/record/merkle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <tuple>

#include "base/check.h"

namespace witan::kernel {

Hash leafHash(std::string_view entry) {
  thread_local Sha256 context;  // kept: making one costs more than hashing a short entry
  return context.update(std::string_view("\0", 1)).update(entry).finish();
}

Hash nodeHash(const Hash& left, const Hash& right) {
  char message[1 + 2 * sizeof(Hash)];
  message[0] = 1;
  std::memcpy(message + 1, left.data(), sizeof(Hash));
  std::memcpy(message + 1 + sizeof(Hash), right.data(), sizeof(Hash));
  return sha256({message, sizeof message});
}

Hash emptyRoot() { return sha256({}); }

namespace {

constexpr std::size_t sizeBytes = 8;
constexpr std::size_t hashBytes = std::tuple_size_v<Hash>;

std::uint64_t readBigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeBytes; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

void MerkleFrontier::append(const Hash& leaf, std::vector<Subtree>* completed) {
  WITAN_CHECK(size_ < maxTreeSize, "a tree holds at most 2^63 - 1 leaves");
  if (completed != nullptr) completed->push_back({0, size_, leaf});
  Hash merged = leaf;
  // As in a binary counter: each trailing one of the size is a complete subtree as large as the one just finished.
  const auto carries = static_cast<unsigned>(std::countr_one(size_));
  for (unsigned level = 1; level <= carries; ++level) {
    merged = nodeHash(peaks_.back(), merged);
    peaks_.pop_back();
    if (completed != nullptr) completed->push_back({level, size_ >> level, merged});
  }
  peaks_.push_back(merged);
  ++size_;
}

Hash MerkleFrontier::root() const {
  if (peaks_.empty()) return emptyRoot();
  Hash root = peaks_.back();
  for (std::size_t i = peaks_.size() - 1; i > 0; --i) root = nodeHash(peaks_[i - 1], root);
  return root;
}

std::string MerkleFrontier::serialise() const {
  std::string bytes;
  bytes.reserve(sizeBytes + peaks_.size() * hashBytes);
  for (std::size_t i = sizeBytes; i > 0; --i) bytes.push_back(static_cast<char>(size_ >> (8 * (i - 1)) & 0xff));
  for (const Hash& peak : peaks_) bytes.append(reinterpret_cast<const char*>(peak.data()), hashBytes);
  return bytes;
}

Result<MerkleFrontier> MerkleFrontier::parse(std::string_view bytes) {
  if (bytes.size() < sizeBytes) {
    return corrupt(concat("merkle frontier: ", bytes.size(), " bytes, at least 8 expected"));
  }
  MerkleFrontier frontier;
  frontier.size_ = readBigEndian(bytes);
  if (frontier.size_ > maxTreeSize) return corrupt("merkle frontier: size above 2^63 - 1");
  const auto peaks = static_cast<std::size_t>(std::popcount(frontier.size_));
  if (bytes.size() != sizeBytes + peaks * hashBytes) {
    return corrupt(concat("merkle frontier of size ", frontier.size_, ": ", bytes.size(), " bytes, ",
                          sizeBytes + peaks * hashBytes, " expected"));
  }
  frontier.peaks_.resize(peaks);
  for (std::size_t i = 0; i < peaks; ++i) {
    std::memcpy(frontier.peaks_[i].data(), bytes.data() + sizeBytes + i * hashBytes, hashBytes);
  }
  return frontier;
}

Result<MerkleFrontier> MerkleFrontier::load(std::uint64_t size, const HashReader& reader) {
  if (size > maxTreeSize) return invalid("merkle tree: size above 2^63 - 1");
  MerkleFrontier frontier;
  frontier.size_ = size;
  for (std::uint64_t start = 0; start < size;) {
    const std::uint64_t width = std::bit_floor(size - start);
    const auto level = static_cast<unsigned>(std::countr_zero(width));
    WITAN_TRY(peak, reader.subtree(level, start >> level));
    frontier.peaks_.push_back(peak);
    start += width;
  }
  return frontier;
}

MemoryTree::MemoryTree(std::span<const Hash> leaves) {
  for (const Hash& leaf : leaves) append(leaf);
}

void MemoryTree::append(const Hash& leaf) {
  std::vector<Subtree> completed;
  frontier_.append(leaf, &completed);
  for (const Subtree& subtree : completed) {
    if (levels_.size() <= subtree.level) levels_.resize(subtree.level + 1);
    levels_[subtree.level].push_back(subtree.hash);
  }
}

Result<Hash> MemoryTree::subtree(unsigned level, std::uint64_t index) const {
  if (level >= levels_.size() || index >= levels_[level].size()) {
    return notFound(concat("merkle tree of ", size(), " leaves: no complete subtree ", index, " at level ", level));
  }
  return levels_[level][index];
}

// Proofs over complete subtrees, and the verifiers, which share nothing with the provers but nodeHash.

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
    return invalid(concat("inclusion proof: no leaf ", index, " in a tree of ", size));
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
  std::ranges::reverse(path);
  return path;
}

Result<std::vector<Hash>> consistencyProof(std::uint64_t first, std::uint64_t second, const HashReader& reader) {
  if (second > maxTreeSize) return invalid("consistency proof: size above 2^63 - 1");
  if (first > second) {
    return invalid(concat("consistency proof: the old size ", first, " is above the new size ", second));
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
  std::ranges::reverse(path);
  return path;
}

std::optional<Hash> pathRoot(const Hash& leaf, std::uint64_t index, std::uint64_t size, std::span<const Hash> path) {
  if (index >= size) return std::nullopt;
  std::uint64_t node = index;     // fn of the RFC
  std::uint64_t last = size - 1;  // sn
  Hash reached = leaf;
  for (const Hash& sibling : path) {
    if (last == 0) return std::nullopt;
    if (odd(node) || node == last) {
      reached = nodeHash(sibling, reached);
      skipUnpaired(node, last);
    } else {
      reached = nodeHash(reached, sibling);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 ? std::optional(reached) : std::nullopt;
}

bool verifyInclusion(const Hash& leaf, std::uint64_t index, std::uint64_t size, std::span<const Hash> path,
                     const Hash& root) {
  return pathRoot(leaf, index, size, path) == root;
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
