// The ten conditions of seed 001 as shipped: coordination/vectors/*.json, compiled in. In order: A to H, I.a, I.b.
#pragma once

#include <span>
#include <string_view>

namespace witan::kernel::joint {

struct ShippedVector {
  std::string_view name, text;
};

std::span<const ShippedVector> shippedVectors();

}  // namespace witan::kernel::joint
