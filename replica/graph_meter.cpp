#include "replica/graph_meter.h"

namespace witan::node {

void GraphMeter::count(const std::string& graph, const graph::Line& line) {
  std::visit(
      [&](const auto& fact) {
        std::string node, why;
        if constexpr (requires { fact.node; }) node = fact.node;
        if constexpr (requires { fact.reason; }) why = fact.reason;
        if constexpr (requires { fact.verdict; }) why = fact.verdict;
        if constexpr (requires { fact.status; }) why = fact.status;
        if constexpr (std::is_same_v<std::decay_t<decltype(fact)>, graph::Refused>) why = fact.why;
        ++counts_[{graph, node, graph::nameOf(line), why}];
      },
      line.fact);
}

}  // namespace witan::node
