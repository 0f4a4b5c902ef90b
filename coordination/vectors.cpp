#include "coordination/vectors.h"

namespace witan::kernel::joint {

namespace {
constexpr ShippedVector kVectors[] = {
#include "coordination/vectors.inc"
};
}  // namespace

std::span<const ShippedVector> shippedVectors() { return kVectors; }

}  // namespace witan::kernel::joint
