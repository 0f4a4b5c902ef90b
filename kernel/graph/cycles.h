// Cycles of a directed graph whose vertices are numbers. Pure functions; the stack they use does not grow with the
// graph.
#pragma once

#include <cstddef>
#include <vector>

namespace witan::graph {

using Successors = std::vector<std::vector<std::size_t>>;  // of each vertex

// The strongly connected components that hold a cycle, each in ascending order. O(vertices + edges).
std::vector<std::vector<std::size_t>> cyclicComponents(const Successors& successors);

}  // namespace witan::graph
