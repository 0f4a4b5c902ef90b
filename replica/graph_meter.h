// GraphMeter: what the graphs of this device did since it started, counted by node (docs/OPERATIONS.md, witan_graph_*).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "kernel/graph/line.h"

namespace witan::node {

class GraphMeter {
 public:
  // Graph, node (empty: of a run), step, and why: the reason of a death or refusal, a verdict, how a run ended.
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  void count(const std::string& graph, const graph::Entry& entry) {
    for (const graph::Line& line : entry) count(graph, line);
  }
  void count(const std::string& graph, const graph::Line& line);
  const std::map<Key, std::uint64_t>& counts() const { return counts_; }

 private:
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace witan::node
