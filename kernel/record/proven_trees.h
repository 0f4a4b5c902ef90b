// ProvenTrees: signed trees whose signature was good, and the hashes that paths have shown in them, so that the leaves
// of one tree cost a hash each and not a path each.
//
// A verifier of a log keeps one. It says what SignatureMemo::holds says of the same proof: what it has not seen, or
// sees otherwise, goes there. 16 KiB a tree. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/record/signed_leaves.h"

namespace witan::kernel {

class ProvenTrees {
 public:
  // Whether the proof's key signed a tree with this leaf at its place.
  bool holds(std::string_view cluster, const Hash& leaf, const LeafProof& proof, SignatureMemo& memo);

 private:
  // A place is that of the root, 1, or twice its parent's, and one more on the right.
  struct Tree {
    std::string cluster;
    PublicKey key{};
    std::uint64_t size = 0;
    witan::Signature signature{};
    std::vector<Hash> hashes;  // by place
    std::vector<bool> known;   // by place

    bool isOf(std::string_view cluster, const LeafProof& proof) const;
    // Whether the path leads from the leaf to hashes that are known, and goes on as they do. Then it is known, too.
    bool shows(const Hash& leaf, const LeafProof& proof);
    void learn(std::size_t place, const Hash& hash) { hashes[place] = hash, known[place] = true; }
  };
  void keep(std::string_view cluster, const Hash& leaf, const LeafProof& proof);

  std::vector<Tree> trees_;
  std::size_t next_ = 0;  // whose place the next one takes
};

}  // namespace witan::kernel
