// A run of a graph for people: the tree of its spans, from its entries (`witan graph show`).
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace witan::node {

// `steps`: {"seq", "time", "action"}, in order. A line a span: what caused it stands above it, less far in.
std::string spanTree(const json::array& steps);

}  // namespace witan::node
