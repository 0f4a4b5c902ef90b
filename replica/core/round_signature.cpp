#include "replica/core/round_signature.h"

#include <utility>

namespace witan::node {

void RoundSignature::add(const Hash& leaf, Take take) {
  leaves_.push_back(leaf);
  takes_.push_back(std::move(take));
}

void RoundSignature::sign(std::string_view cluster, const SigningKey& key) {
  if (leaves_.empty()) return;
  const std::vector<kernel::LeafProof> proofs = kernel::signLeaves(cluster, leaves_, key);
  for (std::size_t i = 0; i < proofs.size(); ++i) takes_[i](leaves_[i], proofs[i]);
  leaves_.clear(), takes_.clear();
}

}  // namespace witan::node
