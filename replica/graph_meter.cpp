#include "replica/graph_meter.h"

namespace witan::node {

void GraphMeter::time(const std::string& graph, const graph::Line& line) {
  const auto begin = [&](const std::string& id) { since_[std::hash<std::string>()(id)] = line.atMs; };
  const auto end = [&](const std::string& id) -> std::optional<std::int64_t> {
    const auto at = since_.find(std::hash<std::string>()(id));
    if (at == since_.end()) return std::nullopt;  // it began before this process
    const std::int64_t ms = line.atMs - at->second;
    since_.erase(at);
    return ms;
  };
  const auto add = [&](const std::string& node, Histogram Times::*which, const std::string& id) {
    if (const auto ms = end(id)) (times_[{graph, node}].*which).add(*ms);
  };
  std::visit(
      [&](const auto& fact) {
        using Fact = std::decay_t<decltype(fact)>;
        constexpr bool sends = std::is_same_v<Fact, graph::Begun> || std::is_same_v<Fact, graph::Sent> ||
                               std::is_same_v<Fact, graph::Redriven>;
        if constexpr (sends) begin(fact.message);
        if constexpr (std::is_same_v<Fact, graph::Delivered>) add(fact.node, &Times::waits, fact.message);
        if constexpr (std::is_same_v<Fact, graph::Delivered>) begin(fact.span);
        if constexpr (std::is_same_v<Fact, graph::Finished> || std::is_same_v<Fact, graph::Failed>)
          add(fact.node, &Times::works, fact.span);
        if constexpr (std::is_same_v<Fact, graph::Dead>) end(fact.message);
      },
      line.fact);
}

void GraphMeter::count(const std::string& graph, const graph::Line& line) {
  time(graph, line);
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
