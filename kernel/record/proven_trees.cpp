#include "kernel/record/proven_trees.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

constexpr std::size_t kTrees = 16;  // devices that ask in turns
constexpr int kMostLevels = std::bit_width(kMaxLeaves);

bool mayKeep(const LeafProof& proof) { return proof.size >= 2 && proof.size <= kMaxLeaves; }

// The way of a path up to the root, step by step as pathRoot() goes it.
class Climb {
 public:
  explicit Climb(const LeafProof& proof)
      : node_(proof.index), last_(proof.size - 1), height_(static_cast<unsigned>(std::bit_width(proof.size - 1))) {}

  bool atTop() const { return last_ == 0; }
  // Requires: not at the top. A node without a sibling stands for its parent.
  void toSibling() {
    left_ = (node_ & 1) != 0 || node_ == last_;
    while (left_ && (node_ & 1) == 0) up();
  }
  bool siblingIsLeft() const { return left_; }
  std::size_t place() const { return (std::size_t{1} << (height_ - level_)) + node_; }
  std::size_t sibling() const { return place() ^ 1; }
  void up() { node_ >>= 1, last_ >>= 1, ++level_; }

 private:
  std::uint64_t node_, last_;
  const unsigned height_;
  unsigned level_ = 0;
  bool left_ = false;
};

}  // namespace

bool ProvenTrees::Tree::isOf(std::string_view ofCluster, const LeafProof& proof) const {
  return signature == proof.signature && key == proof.key && size == proof.size && cluster == ofCluster;
}

bool ProvenTrees::Tree::shows(const Hash& leaf, const LeafProof& proof) {
  if (proof.index >= proof.size || proof.path.size() >= kMostLevels) return false;
  std::array<std::pair<std::size_t, Hash>, 2 * kMostLevels> seen;
  std::size_t count = 0;
  Hash reached = leaf;
  bool met = false;  // what is reached is known: all above has to be, too
  Climb climb(proof);
  for (const Hash& sibling : proof.path) {
    if (climb.atTop()) return false;
    climb.toSibling();
    met = met || (known[climb.place()] && hashes[climb.place()] == reached);
    if (met) {
      if (!known[climb.sibling()] || hashes[climb.sibling()] != sibling) return false;
    } else {
      seen[count++] = {climb.place(), reached};
      seen[count++] = {climb.sibling(), sibling};
      reached = climb.siblingIsLeft() ? nodeHash(sibling, reached) : nodeHash(reached, sibling);
    }
    climb.up();
  }
  if (!climb.atTop() || (!met && reached != hashes[1])) return false;
  for (std::size_t i = 0; i < count; ++i) learn(seen[i].first, seen[i].second);
  return true;
}

void ProvenTrees::keep(std::string_view cluster, const Hash& leaf, const LeafProof& proof) {
  const auto root = pathRoot(leaf, proof.index, proof.size, proof.path);
  WITAN_CHECK(root.has_value(), "the path of a proof that holds has a root");
  if (trees_.size() < kTrees) trees_.resize(trees_.size() + 1), next_ = trees_.size() - 1;
  Tree& tree = trees_[next_];
  next_ = (next_ + 1) % kTrees;
  tree.cluster = cluster, tree.key = proof.key, tree.size = proof.size, tree.signature = proof.signature;
  const std::size_t places = std::size_t{2} << std::bit_width(proof.size - 1);
  tree.hashes.resize(places);
  tree.known.assign(places, false);
  tree.learn(1, *root);
  WITAN_CHECK(tree.shows(leaf, proof), "a path leads to its own root");
}

bool ProvenTrees::holds(std::string_view cluster, const Hash& leaf, const LeafProof& proof, SignatureMemo& memo) {
  const auto known = std::ranges::find_if(trees_, [&](const Tree& tree) { return tree.isOf(cluster, proof); });
  if (known != trees_.end() && known->shows(leaf, proof)) return true;
  if (!memo.holds(cluster, leaf, proof)) return false;
  if (known == trees_.end() && mayKeep(proof)) keep(cluster, leaf, proof);
  return true;
}

}  // namespace witan::kernel
