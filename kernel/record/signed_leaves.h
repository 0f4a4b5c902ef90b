// One signature over many statements: a device signs the root of a tree over them, and each goes with the path of its
// leaf (docs/ledger-format.md, section 10). What a statement says is its leaf's text; texts of different kinds begin
// differently.
//
// Values and pure functions; a SignatureMemo is used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "base/sha256.h"

namespace witan::kernel {

inline constexpr std::size_t kMaxLeafPath = 64;     // hashes
inline constexpr std::size_t kMaxLeaves = 256;      // under one signature of signLeaves()
inline constexpr std::size_t kLeafProofHead = 104;  // bytes before the path

struct LeafProof {
  PublicKey key{};
  std::uint64_t index = 0;  // of the leaf, among `size`
  std::uint64_t size = 0;
  witan::Signature signature{};
  std::vector<Hash> path;  // from the leaf upwards
  friend bool operator==(const LeafProof&, const LeafProof&) = default;
};

// As it stands in an entry: key, u32 index, u32 size (little-endian), signature, path.
std::vector<std::uint8_t> packProof(const LeafProof& proof);
// Ok: it has the form of one. Errors: invalid.
Status checkProof(std::span<const std::uint8_t> bytes);
Result<LeafProof> readProof(std::span<const std::uint8_t> bytes);

// What is signed.
std::string leavesText(std::string_view cluster, std::uint64_t size, const Hash& root);
// One proof for each leaf, in order.
std::vector<LeafProof> signLeaves(std::string_view cluster, std::span<const Hash> leaves, const SigningKey& key);

// Some leaves of one signed tree and what leads from them to its root: the signature stands once for all of them, and
// nothing is left of the others but the roots of subtrees.
struct LeafSet {
  PublicKey key{};
  std::uint64_t size = 0;  // of the tree
  witan::Signature signature{};
  std::vector<std::uint32_t> kept;  // the leaves, ascending
  std::vector<Hash> hashes;         // left to right: of each leaf, and of each largest subtree without one
  friend bool operator==(const LeafSet&, const LeafSet&) = default;
};
inline constexpr std::size_t kMaxSetLeaves = 1024;

// All of them. Requires: 1 to kMaxSetLeaves.
LeafSet signSet(std::string_view cluster, std::span<const Hash> leaves, const SigningKey& key);
// The leaves that are kept, as `set.kept` lists them, and the root.
std::vector<Hash> leavesOf(const LeafSet& set, Hash& root);
// Fewer of them. Requires: `kept` ascending, each in set.kept.
LeafSet keepLeaves(const LeafSet& set, std::span<const std::uint32_t> kept);
// Key, u32 size (little-endian), signature, a bit for each leaf from the lowest, hashes. One byte string for a set.
std::string packSet(const LeafSet& set);
Result<LeafSet> readSet(std::string_view bytes);

// A statement's text of parts that may hold any bytes: each behind its length. Starts with the kind's name.
std::string statementText(std::string_view kind, std::span<const std::string_view> parts);

// SignatureMemo: signatures that were good, so that one that covers many statements is checked once.
class SignatureMemo {
 public:
  // Whether the key signed the text.
  bool holds(const PublicKey& key, std::string_view text, std::span<const std::uint8_t> signature);
  // Whether the proof's key signed a tree with this leaf at its place.
  bool holds(std::string_view cluster, const Hash& leaf, const LeafProof& proof);
  // Whether the set's key signed its tree. `leaves`: as leavesOf().
  bool holds(std::string_view cluster, const LeafSet& set, std::vector<Hash>& leaves);
  // The caller made the proof of this leaf itself: it need not be verified when it comes back.
  void made(std::string_view cluster, const Hash& leaf, const LeafProof& proof);

 private:
  void keep(const Hash& name);

  struct HashOfHash {
    std::size_t operator()(const Hash& hash) const;
  };
  std::unordered_set<Hash, HashOfHash> good_;
};

}  // namespace witan::kernel
