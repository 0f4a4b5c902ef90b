#include "kernel/record/merkle.h"

#include <bit>
#include <cstring>
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
    return corrupt("merkle frontier: " + std::to_string(bytes.size()) + " bytes, at least 8 expected");
  }
  MerkleFrontier frontier;
  frontier.size_ = readBigEndian(bytes);
  if (frontier.size_ > maxTreeSize) return corrupt("merkle frontier: size above 2^63 - 1");
  const auto peaks = static_cast<std::size_t>(std::popcount(frontier.size_));
  if (bytes.size() != sizeBytes + peaks * hashBytes) {
    return corrupt("merkle frontier of size " + std::to_string(frontier.size_) + ": " + std::to_string(bytes.size()) +
                   " bytes, " + std::to_string(sizeBytes + peaks * hashBytes) + " expected");
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
    return Error{ErrorCode::notFound, "merkle tree of " + std::to_string(size()) + " leaves: no complete subtree " +
                                          std::to_string(index) + " at level " + std::to_string(level)};
  }
  return levels_[level][index];
}

}  // namespace witan::kernel
