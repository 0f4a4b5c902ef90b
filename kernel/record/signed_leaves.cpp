#include "kernel/record/signed_leaves.h"

#include <algorithm>
#include <cstring>

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

std::string statementText(std::string_view kind, std::span<const std::string_view> parts) {
  std::string text(kind);
  text += '\n';
  for (const std::string_view part : parts) text += concat(part.size(), ' ', part, '\n');
  return text;
}

std::size_t SignatureMemo::HashOfHash::operator()(const Hash& hash) const {
  std::size_t word = 0;
  std::memcpy(&word, hash.data(), sizeof word);
  return word;
}

bool SignatureMemo::holds(const PublicKey& key, std::string_view text, std::span<const std::uint8_t> signature) {
  const auto bytes = [](std::span<const std::uint8_t> data) {
    return std::string_view(reinterpret_cast<const char*>(data.data()), data.size());
  };
  const Hash name = sha256(concat(bytes(key), signature.size(), ' ', bytes(signature), text));
  if (good_.contains(name)) return true;
  if (!verifySignature(key, text, signature)) return false;
  if (good_.size() >= kMemo) good_.clear();
  good_.insert(name);
  return true;
}

bool SignatureMemo::holds(std::string_view cluster, const Hash& leaf, const LeafProof& proof) {
  const auto root = pathRoot(leaf, proof.index, proof.size, proof.path);
  return root && holds(proof.key, leavesText(cluster, proof.size, *root), proof.signature);
}

}  // namespace witan::kernel
