#include "kernel/joint/vectors.h"

namespace witan::kernel::joint {

namespace {
constexpr ShippedVector kVectors[] = {
#include "kernel/joint/vectors.inc"
};
}  // namespace

std::span<const ShippedVector> shippedVectors() { return kVectors; }

}  // namespace witan::kernel::joint
