// RoundSignature: one signature of this device for all that leaves it with a round (answers, seals of batches). A
// signature costs more than a decision, and to verify one costs more than to make it.
//
// What is added outlives sign(). Not thread-safe.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernel/record/signed_leaves.h"

namespace witan::node {

class RoundSignature {
 public:
  using Take = std::function<void(const Hash& leaf, const kernel::LeafProof& proof)>;

  void add(const Hash& leaf, Take take);
  // Gives each leaf its proof, in the order in which they were added; then there are none.
  void sign(std::string_view cluster, const SigningKey& key);

 private:
  std::vector<Hash> leaves_;
  std::vector<Take> takes_;
};

}  // namespace witan::node
