#include "kernel/graph/static_bound.h"

#include <limits>
#include <map>

namespace witan::graph {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }
std::int64_t product(std::int64_t a, std::int64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }

}  // namespace

std::optional<std::int64_t> staticBound(const Document& document) {
  std::map<std::string_view, std::int64_t> count;
  std::map<std::string_view, std::size_t> waitsFor;
  for (const Node& node : document.nodes) {
    count[node.id] = node.kind == NodeKind::ingress ? 1 : 0;
    waitsFor[node.id] = 0;
  }
  for (const Edge& edge : document.edges) {
    if (!edge.guard) {
      ++waitsFor[edge.to];
      continue;
    }
    const auto bound = edge.bound();
    if (!bound) return std::nullopt;
    count[edge.to] = sum(count[edge.to], *bound);
  }
  std::vector<const Node*> ready;
  for (const Node& node : document.nodes)
    if (waitsFor[node.id] == 0) ready.push_back(&node);
  std::int64_t total = 0;
  while (!ready.empty()) {
    const Node* node = ready.back();
    ready.pop_back();
    total = sum(total, count[node->id]);
    for (const std::size_t at : document.outOf(node->id)) {
      const Edge& edge = document.edges[at];
      if (edge.guard) continue;
      count[edge.to] = sum(count[edge.to], product(count[node->id], node->maxOut));
      if (--waitsFor[edge.to] == 0) ready.push_back(document.node(edge.to));
    }
  }
  return total;
}

}  // namespace witan::graph
