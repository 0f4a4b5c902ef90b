#include "kernel/record/signed_leaves.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <numeric>

#include "base/bytes.h"
#include "base/check.h"
#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

constexpr std::size_t kMemo = 4'096;
constexpr std::size_t kIndexAt = 32, kSizeAt = 36, kSignatureAt = 40;

void appendWord(std::vector<std::uint8_t>& out, std::uint64_t word) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}

std::uint64_t wordAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= std::uint64_t{bytes[at + i]} << (8 * i);
  return word;
}

}  // namespace

std::vector<std::uint8_t> packProof(const LeafProof& proof) {
  std::vector<std::uint8_t> out(proof.key.begin(), proof.key.end());
  out.reserve(kLeafProofHead + proof.path.size() * sizeof(Hash));
  appendWord(out, proof.index);
  appendWord(out, proof.size);
  out.insert(out.end(), proof.signature.begin(), proof.signature.end());
  for (const Hash& hash : proof.path) out.insert(out.end(), hash.begin(), hash.end());
  return out;
}

Status checkProof(std::span<const std::uint8_t> bytes) {
  const std::size_t path = bytes.size() < kLeafProofHead ? 1 : bytes.size() - kLeafProofHead;
  if (path % sizeof(Hash) != 0 || path / sizeof(Hash) > kMaxLeafPath)
    return invalid(concat("proof: ", bytes.size(), " bytes are none"));
  if (wordAt(bytes, kIndexAt) >= wordAt(bytes, kSizeAt)) return invalid("proof: its leaf lies outside its tree");
  return okStatus();
}

Result<LeafProof> readProof(std::span<const std::uint8_t> bytes) {
  WITAN_DO(checkProof(bytes));
  LeafProof proof;
  std::copy_n(bytes.begin(), proof.key.size(), proof.key.begin());
  proof.index = wordAt(bytes, kIndexAt), proof.size = wordAt(bytes, kSizeAt);
  std::copy_n(bytes.begin() + kSignatureAt, proof.signature.size(), proof.signature.begin());
  proof.path.resize((bytes.size() - kLeafProofHead) / sizeof(Hash));
  for (std::size_t i = 0; i < proof.path.size(); ++i)
    std::memcpy(proof.path[i].data(), bytes.data() + kLeafProofHead + i * sizeof(Hash), sizeof(Hash));
  return proof;
}

std::string leavesText(std::string_view cluster, std::uint64_t size, const Hash& root) {
  return concat("witan-round/1\n", cluster, '\n', size, ' ', toHex(root), '\n');
}

std::vector<LeafProof> signLeaves(std::string_view cluster, std::span<const Hash> leaves, const SigningKey& key) {
  std::vector<LeafProof> proofs;
  proofs.reserve(leaves.size());
  for (; !leaves.empty(); leaves = leaves.subspan(std::min(leaves.size(), kMaxLeaves))) {
    const MemoryTree tree(leaves.first(std::min(leaves.size(), kMaxLeaves)));
    const witan::Signature signature = key.sign(leavesText(cluster, tree.size(), tree.root()));
    for (std::uint64_t i = 0; i < tree.size(); ++i) {
      auto path = inclusionProof(i, tree.size(), tree);
      WITAN_CHECK(path.ok(), "a tree in memory has the paths of its leaves");
      proofs.push_back({key.publicKey(), i, tree.size(), signature, *std::move(path)});
    }
  }
  return proofs;
}

namespace {

// Walks the tree of a set from the left.
class SetWalk {
 public:
  explicit SetWalk(const LeafSet& set) : set_(set) {}

  Hash root(std::vector<Hash>& leaves) { return fold(0, set_.size, &leaves); }
  void keep(std::span<const std::uint32_t> wanted, std::vector<Hash>& out) {
    wanted_ = wanted;
    keep(0, set_.size, out);
  }
  // How many hashes a set of these leaves has.
  static std::size_t hashesOf(std::span<const std::uint32_t>& kept, std::uint64_t first, std::uint64_t size) {
    if (kept.empty() || kept.front() >= first + size) return 1;
    if (size == 1) return kept = kept.subspan(1), 1;
    const std::uint64_t left = leftOf(size);
    const std::size_t n = hashesOf(kept, first, left);
    return n + hashesOf(kept, first + left, size - left);
  }

 private:
  static std::uint64_t leftOf(std::uint64_t size) { return std::bit_ceil(size) / 2; }
  static bool within(std::span<const std::uint32_t> list, std::size_t at, std::uint64_t end) {
    return at < list.size() && list[at] < end;
  }

  Hash fold(std::uint64_t first, std::uint64_t size, std::vector<Hash>* leaves) {
    if (!within(set_.kept, keptAt_, first + size)) return set_.hashes[hashAt_++];
    if (size == 1) {
      ++keptAt_;
      if (leaves != nullptr) leaves->push_back(set_.hashes[hashAt_]);
      return set_.hashes[hashAt_++];
    }
    const std::uint64_t left = leftOf(size);
    const Hash one = fold(first, left, leaves);
    return nodeHash(one, fold(first + left, size - left, leaves));
  }
  void keep(std::uint64_t first, std::uint64_t size, std::vector<Hash>& out) {
    const bool wanted = within(wanted_, wantedAt_, first + size);
    if (wanted && size > 1) {
      const std::uint64_t left = leftOf(size);
      keep(first, left, out);
      return keep(first + left, size - left, out);
    }
    if (wanted) ++wantedAt_;
    out.push_back(fold(first, size, nullptr));
  }

  const LeafSet& set_;
  std::span<const std::uint32_t> wanted_;
  std::size_t keptAt_ = 0, hashAt_ = 0, wantedAt_ = 0;
};

}  // namespace

LeafSet signSet(std::string_view cluster, std::span<const Hash> leaves, const SigningKey& key) {
  WITAN_CHECK(!leaves.empty() && leaves.size() <= kMaxSetLeaves, "a set has leaves, and not too many");
  LeafSet set{.key = key.publicKey(), .size = leaves.size()};
  set.hashes.assign(leaves.begin(), leaves.end());
  set.kept.resize(leaves.size());
  std::iota(set.kept.begin(), set.kept.end(), 0u);
  std::vector<Hash> all;
  set.signature = key.sign(leavesText(cluster, set.size, SetWalk(set).root(all)));
  return set;
}

std::vector<Hash> leavesOf(const LeafSet& set, Hash& root) {
  std::vector<Hash> leaves;
  leaves.reserve(set.kept.size());
  root = SetWalk(set).root(leaves);
  return leaves;
}

LeafSet keepLeaves(const LeafSet& set, std::span<const std::uint32_t> kept) {
  LeafSet fewer{.key = set.key, .size = set.size, .signature = set.signature};
  fewer.kept.assign(kept.begin(), kept.end());
  SetWalk(set).keep(kept, fewer.hashes);
  return fewer;
}

std::string packSet(const LeafSet& set) {
  std::string out(asView(set.key));
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<char>(set.size >> (8 * i)));
  out.append(asView(set.signature));
  std::string bits((set.size + 7) / 8, '\0');
  for (const std::uint32_t leaf : set.kept) bits[leaf / 8] = static_cast<char>(bits[leaf / 8] | 1 << leaf % 8);
  out.append(bits);
  for (const Hash& hash : set.hashes) out.append(asView(hash));
  return out;
}

Result<LeafSet> readSet(std::string_view bytes) {
  constexpr std::size_t head = sizeof(PublicKey) + 4 + sizeof(witan::Signature);
  if (bytes.size() < head) return invalid(concat("a set of leaves: ", bytes.size(), " bytes are none"));
  LeafSet set;
  std::copy_n(bytes.begin(), set.key.size(), set.key.begin());
  set.size = wordAt(asBytes(bytes), set.key.size());
  std::copy_n(bytes.begin() + sizeof(PublicKey) + 4, set.signature.size(), set.signature.begin());
  const std::size_t bits = (set.size + 7) / 8;
  if (set.size == 0 || set.size > kMaxSetLeaves || bytes.size() < head + bits)
    return invalid(concat("a set of leaves: a tree of ", set.size));
  for (std::uint32_t leaf = 0; leaf < bits * 8; ++leaf)
    if ((static_cast<unsigned char>(bytes[head + leaf / 8]) >> leaf % 8 & 1) != 0) set.kept.push_back(leaf);
  if (set.kept.empty() || set.kept.back() >= set.size) return invalid("a set of leaves: none, or outside of its tree");
  std::span<const std::uint32_t> kept(set.kept);
  const std::size_t hashes = SetWalk::hashesOf(kept, 0, set.size);
  if (bytes.size() != head + bits + hashes * sizeof(Hash))
    return invalid(concat("a set of leaves: ", bytes.size(), " bytes for ", hashes, " hashes"));
  set.hashes.resize(hashes);
  std::memcpy(set.hashes.data(), bytes.data() + head + bits, hashes * sizeof(Hash));
  return set;
}

std::string statementText(std::string_view kind, std::span<const std::string_view> parts) {
  constexpr std::size_t kDigits = 20;
  std::size_t most = kind.size() + 1;
  for (const std::string_view part : parts) most += kDigits + 2 + part.size();
  std::string text;
  text.reserve(most);
  text.append(kind) += '\n';
  for (const std::string_view part : parts) {
    char digits[kDigits];
    text.append(digits, std::to_chars(digits, digits + kDigits, part.size()).ptr) += ' ';
    text.append(part) += '\n';
  }
  return text;
}

std::size_t SignatureMemo::HashOfHash::operator()(const Hash& hash) const {
  std::size_t word = 0;
  std::memcpy(&word, hash.data(), sizeof word);
  return word;
}

namespace {
Hash nameOf(const PublicKey& key, std::string_view text, std::span<const std::uint8_t> signature) {
  return sha256(concat(asView(key), signature.size(), ' ', asView(signature), text));
}
}  // namespace

void SignatureMemo::keep(const Hash& name) {
  if (good_.size() >= kMemo) good_.clear();
  good_.insert(name);
}

bool SignatureMemo::holds(const PublicKey& key, std::string_view text, std::span<const std::uint8_t> signature) {
  const Hash name = nameOf(key, text, signature);
  if (good_.contains(name)) return true;
  if (!verifySignature(key, text, signature)) return false;
  keep(name);
  return true;
}

void SignatureMemo::made(std::string_view cluster, const Hash& leaf, const LeafProof& proof) {
  if (const auto root = pathRoot(leaf, proof.index, proof.size, proof.path))
    keep(nameOf(proof.key, leavesText(cluster, proof.size, *root), proof.signature));
}

bool SignatureMemo::holds(std::string_view cluster, const Hash& leaf, const LeafProof& proof) {
  const auto root = pathRoot(leaf, proof.index, proof.size, proof.path);
  return root && holds(proof.key, leavesText(cluster, proof.size, *root), proof.signature);
}

bool SignatureMemo::holds(std::string_view cluster, const LeafSet& set, std::vector<Hash>& leaves) {
  Hash root;
  leaves = leavesOf(set, root);
  return holds(set.key, leavesText(cluster, set.size, root), set.signature);
}

}  // namespace witan::kernel
