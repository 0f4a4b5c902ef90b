#include "kernel/record/merkle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/crypto.h"
#include "kernel/record/proven_trees.h"
#include "kernel/record/signed_leaves.h"

namespace witan::kernel::merkle_test {
namespace {

using Path = std::vector<Hash>;
using Leaves = std::span<const std::string>;

// The definitions of RFC 6962 section 2.1, word for word and slowly.
std::size_t largestPowerBelow(std::size_t n) {
  std::size_t k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

Hash mth(Leaves d) {
  if (d.empty()) return sha256("");
  if (d.size() == 1) return sha256(std::string(1, '\0') + d[0]);
  const std::size_t k = largestPowerBelow(d.size());
  return sha256("\x01" + std::string(asView(mth(d.first(k)))) + std::string(asView(mth(d.subspan(k)))));
}

Path operator+(Path path, const Hash& hash) {
  path.push_back(hash);
  return path;
}

Path rfcPath(std::size_t m, Leaves d) {
  if (d.size() == 1) return {};
  const std::size_t k = largestPowerBelow(d.size());
  return m < k ? rfcPath(m, d.first(k)) + mth(d.subspan(k)) : rfcPath(m - k, d.subspan(k)) + mth(d.first(k));
}

Path rfcSubproof(std::size_t m, Leaves d, bool whole) {
  if (m == d.size()) return whole ? Path{} : Path{mth(d)};
  const std::size_t k = largestPowerBelow(d.size());
  return m <= k ? rfcSubproof(m, d.first(k), whole) + mth(d.subspan(k))
                : rfcSubproof(m - k, d.subspan(k), false) + mth(d.first(k));
}

std::vector<std::string> numberedLeaves(std::size_t count) {
  std::vector<std::string> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back("entry " + std::to_string(i));
  return leaves;
}

MemoryTree treeOf(Leaves leaves) {
  MemoryTree tree;
  for (const std::string& leaf : leaves) tree.append(leafHash(leaf));
  return tree;
}

Hash fromHexHash(std::string_view text) { return hashFromHex(text).value(); }

// The tree that Certificate Transparency's own tests use.
const std::vector<std::string> ctLeaves = [] {
  std::vector<std::string> leaves;
  for (const char* hex :
       {"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}) {
    leaves.push_back(fromHex(hex).value());
  }
  return leaves;
}();

const char* const ctRoots[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

Path hashes(std::initializer_list<const char*> texts) {
  Path path;
  for (const char* text : texts) path.push_back(fromHexHash(text));
  return path;
}

TEST(Merkle, GoldenRootsOfTheRfc6962TestTree) {
  MerkleFrontier frontier;
  const MemoryTree tree = treeOf(ctLeaves);
  for (std::size_t size = 0; size <= ctLeaves.size(); ++size) {
    EXPECT_EQ(toHex(frontier.root()), ctRoots[size]) << size;
    EXPECT_EQ(toHex(rootAt(size, tree).value()), ctRoots[size]) << size;
    EXPECT_EQ(toHex(mth(Leaves(ctLeaves).first(size))), ctRoots[size]) << size;
    if (size < ctLeaves.size()) frontier.append(leafHash(ctLeaves[size]));
  }
}

TEST(Merkle, GoldenProofsOfTheRfc6962TestTree) {
  const MemoryTree tree = treeOf(ctLeaves);
  const Path first = hashes({"96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                             "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                             "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"});
  EXPECT_EQ(inclusionProof(0, 8, tree).value(), first);
  EXPECT_EQ(consistencyProof(1, 8, tree).value(), first);
  EXPECT_EQ(inclusionProof(5, 8, tree).value(),
            hashes({"bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
  EXPECT_EQ(consistencyProof(6, 8, tree).value(),
            hashes({"0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
  EXPECT_EQ(consistencyProof(2, 5, tree).value(),
            hashes({"5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"}));
}

TEST(Merkle, LeavesAndNodesAreHashedApart) {
  // A leaf made of two hashes must not be a node: the prefixes keep them apart.
  const Hash left = leafHash("l");
  const Hash right = leafHash("r");
  EXPECT_NE(leafHash(std::string(asView(left)) + std::string(asView(right))), nodeHash(left, right));
  EXPECT_EQ(leafHash("L123456"), fromHexHash("395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56"));
  const std::string large(100'000, 'x');
  EXPECT_EQ(leafHash(large), sha256(std::string(1, '\0') + large));
}

RC_GTEST_PROP(Merkle, ProverEqualsTheDefinitionAndItsProofsVerify, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 70);
  const auto index = *rc::gen::inRange<std::size_t>(0, size);
  const auto old = *rc::gen::inRange<std::size_t>(1, size + 1);
  const std::vector<std::string> leaves = numberedLeaves(size);
  const MemoryTree tree = treeOf(leaves);
  RC_ASSERT(tree.root() == mth(leaves));
  const Path path = inclusionProof(index, size, tree).value();
  RC_ASSERT(path == rfcPath(index, leaves));
  RC_ASSERT(verifyInclusion(leafHash(leaves[index]), index, size, path, tree.root()));
  const Path proof = consistencyProof(old, size, tree).value();
  RC_ASSERT(proof == rfcSubproof(old, leaves, true));
  RC_ASSERT(verifyConsistency(old, size, rootAt(old, tree).value(), tree.root(), proof));
}

TEST(Merkle, EveryProofOfSmallTreesVerifiesAndNoOtherPositionDoes) {
  constexpr std::size_t limit = 20;
  const MemoryTree tree = treeOf(numberedLeaves(limit));
  for (std::size_t size = 1; size <= limit; ++size) {
    const Hash root = rootAt(size, tree).value();
    for (std::size_t index = 0; index < size; ++index) {
      const Path path = inclusionProof(index, size, tree).value();
      const Hash leaf = tree.subtree(0, index).value();
      for (std::size_t other = 0; other <= size; ++other) {
        EXPECT_EQ(verifyInclusion(leaf, other, size, path, root), other == index);
      }
      for (std::size_t other = 1; other <= limit; ++other) {  // another size comes with that size's root
        EXPECT_EQ(verifyInclusion(leaf, index, other, path, rootAt(other, tree).value()), other == size);
      }
    }
    for (std::size_t old = 0; old <= limit; ++old) {
      if (old > size) {
        EXPECT_FALSE(consistencyProof(old, size, tree).ok());
        continue;
      }
      const Path proof = consistencyProof(old, size, tree).value();
      for (std::size_t other = 1; other <= limit; ++other) {
        const bool honest = verifyConsistency(other, size, rootAt(other, tree).value(), root, proof);
        const bool sameProof = other <= size && consistencyProof(other, size, tree).value() == proof;
        EXPECT_EQ(honest, sameProof) << other << " " << old << " " << size;
      }
    }
  }
}

RC_GTEST_PROP(Merkle, AnyAlteredHashFails, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(2, 70);
  const auto index = *rc::gen::inRange<std::size_t>(0, size);
  const auto old = *rc::gen::inRange<std::size_t>(1, size);
  const auto byte = *rc::gen::inRange<std::size_t>(0, 32);
  const auto bit = *rc::gen::inRange(0, 8);
  const auto flip = [&](Hash hash) {
    hash[byte] = static_cast<std::uint8_t>(hash[byte] ^ (1u << bit));
    return hash;
  };
  const MemoryTree tree = treeOf(numberedLeaves(size));
  const Hash leaf = tree.subtree(0, index).value();
  const Hash oldRoot = rootAt(old, tree).value();
  const Path path = inclusionProof(index, size, tree).value();
  const Path proof = consistencyProof(old, size, tree).value();
  RC_ASSERT(!verifyInclusion(flip(leaf), index, size, path, tree.root()));
  RC_ASSERT(!verifyInclusion(leaf, index, size, path, flip(tree.root())));
  RC_ASSERT(!verifyConsistency(old, size, flip(oldRoot), tree.root(), proof));
  RC_ASSERT(!verifyConsistency(old, size, oldRoot, flip(tree.root()), proof));
  for (std::size_t i = 0; i < path.size(); ++i) {
    Path altered = path;
    altered[i] = flip(path[i]);
    RC_ASSERT(!verifyInclusion(leaf, index, size, altered, tree.root()));
  }
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Path altered = proof;
    altered[i] = flip(proof[i]);
    RC_ASSERT(!verifyConsistency(old, size, oldRoot, tree.root(), altered));
  }
}

RC_GTEST_PROP(Merkle, ShorterLongerAndReorderedPathsFail, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(2, 70);
  const auto index = *rc::gen::inRange<std::size_t>(0, size);
  const auto old = *rc::gen::inRange<std::size_t>(1, size);
  const MemoryTree tree = treeOf(numberedLeaves(size));
  const Hash leaf = tree.subtree(0, index).value();
  const Hash oldRoot = rootAt(old, tree).value();
  const auto fails = [&](const Path& path, const Path& proof) {
    return !verifyInclusion(leaf, index, size, path, tree.root()) &&
           !verifyConsistency(old, size, oldRoot, tree.root(), proof);
  };
  const Path path = inclusionProof(index, size, tree).value();
  const Path proof = consistencyProof(old, size, tree).value();
  RC_ASSERT(fails({path.begin() + 1, path.end()}, {proof.begin() + 1, proof.end()}));
  RC_ASSERT(fails({path.begin(), path.end() - 1}, {proof.begin(), proof.end() - 1}));
  RC_ASSERT(fails(path + tree.root(), proof + tree.root()));
  RC_ASSERT(fails({}, {}));
  if (path.size() > 1 && proof.size() > 1) {
    RC_ASSERT(fails({path.rbegin(), path.rend()}, {proof.rbegin(), proof.rend()}));
  }
}

// Paths whose hashes add up, for a size that needs a longer or a shorter one.
TEST(Merkle, PathsOfAnotherLengthThanTheSizeNeedsFail) {
  const MemoryTree tree = treeOf(numberedLeaves(8));
  const auto root = [&](std::uint64_t size) { return rootAt(size, tree).value(); };
  const auto leaf = [&](std::uint64_t index) { return tree.subtree(0, index).value(); };
  EXPECT_FALSE(verifyInclusion(leaf(0), 0, 100, inclusionProof(0, 3, tree).value(), root(3)));
  EXPECT_FALSE(verifyInclusion(leaf(7), 1, 2, inclusionProof(7, 8, tree).value(), root(8)));
  EXPECT_FALSE(verifyConsistency(2, 100, root(2), root(3), consistencyProof(2, 3, tree).value()));
  EXPECT_FALSE(verifyConsistency(3, 4, root(7), root(8), consistencyProof(7, 8, tree).value()));
}

TEST(Merkle, ARewrittenLeafBreaksConsistency) {
  std::vector<std::string> leaves = numberedLeaves(13);
  const MemoryTree honest = treeOf(leaves);
  leaves[4] += "!";
  const MemoryTree forged = treeOf(leaves);
  for (std::size_t old = 1; old < 13; ++old) {
    const Path proof = consistencyProof(old, 13, forged).value();
    EXPECT_EQ(verifyConsistency(old, 13, rootAt(old, honest).value(), forged.root(), proof), old <= 4);
  }
}

TEST(Merkle, EmptyAndEqualTrees) {
  const MemoryTree tree = treeOf(numberedLeaves(5));
  const Hash root = tree.root();
  EXPECT_TRUE(consistencyProof(0, 5, tree).value().empty());
  EXPECT_TRUE(verifyConsistency(0, 5, emptyRoot(), root, {}));
  EXPECT_FALSE(verifyConsistency(0, 5, root, root, {}));
  EXPECT_FALSE(verifyConsistency(0, 5, emptyRoot(), root, Path{root}));
  EXPECT_TRUE(verifyConsistency(5, 5, root, root, {}));
  EXPECT_FALSE(verifyConsistency(5, 5, root, emptyRoot(), {}));
  EXPECT_FALSE(verifyConsistency(5, 5, root, root, Path{root}));
  EXPECT_TRUE(verifyConsistency(0, 0, emptyRoot(), emptyRoot(), {}));
  EXPECT_FALSE(verifyConsistency(0, 0, root, root, {}));
  EXPECT_FALSE(verifyInclusion(emptyRoot(), 0, 0, {}, emptyRoot()));
}

TEST(Merkle, BadRequestsAreRefusedAndMissingSubtreesReported) {
  const MemoryTree tree = treeOf(numberedLeaves(5));
  EXPECT_EQ(inclusionProof(5, 5, tree).error().message, "inclusion proof: no leaf 5 in a tree of 5");
  EXPECT_FALSE(inclusionProof(0, 0, tree).ok());
  EXPECT_FALSE(consistencyProof(6, 5, tree).ok());
  EXPECT_FALSE(rootAt(maxTreeSize + 1, tree).ok());
  EXPECT_FALSE(inclusionProof(0, maxTreeSize + 1, tree).ok());
  EXPECT_FALSE(consistencyProof(0, maxTreeSize + 1, tree).ok());
  EXPECT_EQ(inclusionProof(0, 9, tree).error().code, ErrorCode::notFound);  // the reader's error comes through
  EXPECT_EQ(MerkleFrontier::load(6, tree).error().code, ErrorCode::notFound);
}

TEST(Merkle, ExtremeSizesNeitherHangNorOverflow) {
  const std::uint64_t most = ~std::uint64_t{0};
  const Path path(64, Hash{});
  for (const std::uint64_t size : {most, most - 1, maxTreeSize, maxTreeSize + 1}) {
    for (const std::uint64_t index : {std::uint64_t{0}, size / 2, size - 1, size}) {
      EXPECT_FALSE(verifyInclusion(Hash{}, index, size, path, Hash{}));
      EXPECT_FALSE(verifyConsistency(index, size, Hash{}, Hash{1}, path));
    }
  }
}

// A reader of a tree of 2^63 - 1 equal leaves: one hash per level.
class EqualLeaves final : public HashReader {
 public:
  Result<Hash> subtree(unsigned level, std::uint64_t) const override {
    Hash hash = leafHash("x");
    for (unsigned i = 0; i < level; ++i) hash = nodeHash(hash, hash);
    return hash;
  }
};

TEST(Merkle, ProofsOfTheLargestTree) {
  const EqualLeaves reader;
  const Hash root = rootAt(maxTreeSize, reader).value();
  const MerkleFrontier frontier = MerkleFrontier::load(maxTreeSize, reader).value();
  EXPECT_EQ(frontier.root(), root);
  for (const std::uint64_t index : {std::uint64_t{0}, maxTreeSize / 3, maxTreeSize - 1}) {
    const Path path = inclusionProof(index, maxTreeSize, reader).value();
    EXPECT_LE(path.size(), 63u);
    EXPECT_TRUE(verifyInclusion(leafHash("x"), index, maxTreeSize, path, root));
    const Path proof = consistencyProof(index + 1, maxTreeSize, reader).value();
    EXPECT_TRUE(verifyConsistency(index + 1, maxTreeSize, rootAt(index + 1, reader).value(), root, proof));
  }
  EXPECT_DEATH(MerkleFrontier(frontier).append(root), "2\\^63 - 1");
}

RC_GTEST_PROP(Merkle, FrontierSerialisesCanonicallyAndReloads, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(0, 200);
  const MemoryTree tree = treeOf(numberedLeaves(size));
  const MerkleFrontier loaded = MerkleFrontier::load(size, tree).value();
  const std::string bytes = loaded.serialise();
  MerkleFrontier parsed = MerkleFrontier::parse(bytes).value();
  RC_ASSERT(parsed == loaded);
  RC_ASSERT(parsed.size() == size);
  RC_ASSERT(parsed.root() == tree.root());
  RC_ASSERT(parsed.serialise() == bytes);
  parsed.append(leafHash("next"));
  MemoryTree longer = tree;
  longer.append(leafHash("next"));
  RC_ASSERT(parsed.root() == longer.root());
}

RC_GTEST_PROP(Merkle, AnyBytesParseToAFrontierThatPrintsThemOrAreRefused, ()) {
  auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  if (*rc::gen::arbitrary<bool>()) bytes = std::string(7, '\0') + '\x03' + bytes;
  const Result<MerkleFrontier> frontier = MerkleFrontier::parse(bytes);
  if (frontier.ok()) RC_ASSERT(frontier->serialise() == bytes);
}

TEST(Merkle, FrontierRefusesWrongLengths) {
  const std::string bytes = MerkleFrontier::load(7, treeOf(numberedLeaves(7))).value().serialise();
  EXPECT_EQ(bytes.size(), 8u + 3u * 32u);
  EXPECT_EQ(MerkleFrontier::parse(bytes.substr(0, 40)).error().message,
            "merkle frontier of size 7: 40 bytes, 104 expected");
  EXPECT_FALSE(MerkleFrontier::parse(bytes + "x").ok());
  EXPECT_FALSE(MerkleFrontier::parse("").ok());
  EXPECT_FALSE(MerkleFrontier::parse("\xff" + bytes.substr(1)).ok());
}

TEST(Merkle, CompletedSubtreesAreWhatTheReaderNeeds) {
  MerkleFrontier frontier;
  std::vector<Subtree> completed;
  for (int i = 0; i < 4; ++i) frontier.append(leafHash(std::to_string(i)), &completed);
  std::vector<std::pair<unsigned, std::uint64_t>> order;
  for (const Subtree& subtree : completed) order.emplace_back(subtree.level, subtree.index);
  EXPECT_EQ(order,
            (std::vector<std::pair<unsigned, std::uint64_t>>{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {0, 3}, {1, 1}, {2, 0}}));
  EXPECT_EQ(completed.back().hash, frontier.root());
}

// What paths have shown of a tree never lets more hold than a look at the whole path does.
TEST(ProvenTrees, HoldsWhatASignatureMemoHolds) {
  const SigningKey key = SigningKey::fromSeed(std::string(32, 'a')).value();
  for (const std::size_t size : {1, 2, 3, 5, 6, 7, 8, 13, 64, 65, 255, 256}) {
    std::vector<Hash> leaves;
    for (std::size_t i = 0; i < size; ++i) leaves.push_back(sha256(concat(size, "/", i)));
    const auto proofs = signLeaves("test", leaves, key);
    ProvenTrees trees;
    SignatureMemo memo, alone;
    const auto same = [&](std::string_view cluster, const Hash& leaf, const LeafProof& proof) {
      const bool holds = trees.holds(cluster, leaf, proof, memo);
      EXPECT_EQ(holds, alone.holds(cluster, leaf, proof)) << size << " leaves, leaf " << proof.index;
      return holds;
    };
    // From both ends, so that a path meets what is known at each height.
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = i % 2 == 0 ? i / 2 : size - 1 - i / 2;
      EXPECT_TRUE(same("test", leaves[at], proofs[at]));
    }
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      EXPECT_TRUE(same("test", leaves[at], proofs[at]));
      EXPECT_FALSE(same("other", leaves[at], proofs[at]));
      EXPECT_FALSE(same("test", sha256("another"), proofs[at]));
      std::vector<LeafProof> changed(6, proofs[at]);
      changed[0].key[0] ^= 1, changed[1].signature[0] ^= 1, ++changed[2].index, ++changed[3].size;
      changed[4].path.emplace_back();
      changed[5].index += size;
      for (std::size_t i = 0; i < proofs[at].path.size(); ++i) {
        changed.push_back(proofs[at]), changed.back().path[i][31] ^= 1;
        changed.push_back(proofs[at]), changed.back().path.resize(i);
        changed.push_back(proofs[at]), changed.back().path[i] = leaves[at];
      }
      for (const LeafProof& one : changed) EXPECT_FALSE(same("test", leaves[at], one));
      EXPECT_TRUE(same("test", leaves[at], proofs[at])) << "what did not hold is not learnt";
    }
  }
}

// More devices than are kept at a time, and two trees of one device.
TEST(ProvenTrees, TreesInTurns) {
  constexpr std::size_t kLeaves = 9;
  std::vector<std::vector<Hash>> leaves;
  std::vector<std::vector<LeafProof>> proofs;
  for (char device = 'a'; device < 'a' + 20; ++device)
    for (const char* round : {"one", "two"}) {
      leaves.emplace_back();
      for (std::size_t i = 0; i < kLeaves; ++i) leaves.back().push_back(sha256(concat(device, round, i)));
      proofs.push_back(signLeaves("test", leaves.back(), SigningKey::fromSeed(std::string(32, device)).value()));
    }
  ProvenTrees trees;
  SignatureMemo memo;
  for (std::size_t i = 0; i < kLeaves; ++i)
    for (std::size_t tree = 0; tree < proofs.size(); ++tree) {
      EXPECT_TRUE(trees.holds("test", leaves[tree][i], proofs[tree][i], memo));
      EXPECT_FALSE(trees.holds("test", leaves[tree ^ 1][i], proofs[tree][i], memo));
    }
}

}  // namespace
}  // namespace witan::kernel::merkle_test
