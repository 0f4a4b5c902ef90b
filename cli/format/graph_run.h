// A run of a graph for people: the tree of its spans, from its entries (`witan graph show`).
//
// A pure function.
#pragma once

#include <string>

#include "base/json.h"

namespace witan::node {

// `steps`: {"seq", "time", "action"}, in order. A line a span: what caused it stands above it, less far in.
std::string spanTree(const json::array& steps);

}  // namespace witan::node
