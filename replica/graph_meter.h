// GraphMeter: what the graphs of this device did since it started, counted by node (docs/OPERATIONS.md, witan_graph_*).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/histogram.h"
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

  struct Times {
    Histogram waits, works;  // from sending to delivery; from there to the end of the attempt
  };
  const std::map<std::pair<std::string, std::string>, Times>& times() const { return times_; }  // by graph and node

 private:
  void time(const std::string& graph, const graph::Line& line);

  std::map<Key, std::uint64_t> counts_;
  std::map<std::pair<std::string, std::string>, Times> times_;
  std::unordered_map<std::uint64_t, std::int64_t> since_;  // by a hash of the message or span that is open
};

}  // namespace witan::node
