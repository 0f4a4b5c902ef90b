#include "kernel/graph/static_bound.h"

#include <limits>

namespace witan::graph {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }
std::int64_t product(std::int64_t a, std::int64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }

}  // namespace

std::optional<std::int64_t> staticBound(const Document& document) {
  std::vector<std::int64_t> count;
  std::vector<std::size_t> waitsFor(document.nodes.size());
  for (const Node& node : document.nodes) count.push_back(node.kind == NodeKind::ingress ? 1 : 0);
  for (const Edge& edge : document.edges) {
    const std::size_t to = document.positionOf(edge.to);
    if (!edge.guard) {
      ++waitsFor[to];
      continue;
    }
    const auto bound = edge.bound();
    if (!bound) return std::nullopt;
    count[to] = sum(count[to], *bound);
  }
  std::vector<std::size_t> ready;
  for (std::size_t at = 0; at < waitsFor.size(); ++at)
    if (waitsFor[at] == 0) ready.push_back(at);
  std::int64_t total = 0;
  while (!ready.empty()) {
    const std::size_t from = ready.back();
    ready.pop_back();
    total = sum(total, count[from]);
    const Node& node = document.nodes[from];
    for (const std::size_t at : document.outOf(node.id)) {
      const Edge& edge = document.edges[at];
      if (edge.guard) continue;
      const std::size_t to = document.positionOf(edge.to);
      count[to] = sum(count[to], product(count[from], node.maxOut));
      if (--waitsFor[to] == 0) ready.push_back(to);
    }
  }
  return total;
}

}  // namespace witan::graph
