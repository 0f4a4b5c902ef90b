// The bound of theorem 1: how many deliveries one run can need.
#pragma once

#include <optional>

#include "kernel/graph/document.h"

namespace witan::graph {

// c(v) = [v is an ingress] + the sum over edges into v of (guarded ? bound : c(from) * maxOut(from)); the bound is the
// sum of c(v), at most 2^63 - 1. Nothing if a guard has no bound. Requires: the graph without its guarded edges has no
// cycle.
std::optional<std::int64_t> staticBound(const Document& document);

}  // namespace witan::graph
