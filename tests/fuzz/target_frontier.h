// Any bytes as the head of a tree: accepted is exactly what serialise writes.
#pragma once

#include "base/check.h"
#include "kernel/record/merkle.h"

namespace witan::fuzz {

inline void fuzzFrontier(std::string_view bytes) {
  auto frontier = kernel::MerkleFrontier::parse(bytes);
  if (!frontier.ok()) return;
  WITAN_CHECK(frontier->serialise() == bytes, "a frontier has one byte string");
  const std::uint64_t before = frontier->size();
  (void)frontier->root();
  if (before == kernel::maxTreeSize) return;
  frontier->append(kernel::leafHash(bytes));
  WITAN_CHECK(frontier->size() == before + 1, "a leaf more");
  WITAN_CHECK(*kernel::MerkleFrontier::parse(frontier->serialise()) == *frontier, "and it reads back");
}

}  // namespace witan::fuzz
