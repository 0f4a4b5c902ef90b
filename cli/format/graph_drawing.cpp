#include "cli/format/graph_drawing.h"

namespace witan::node {

using namespace graph;

namespace {

std::string guardText(const Edge& edge) {
  if (const auto bound = edge.bound()) return "at most " + std::to_string(*bound);
  if (const auto measure = edge.measure()) return *measure + " falls";
  return edge.guard ? "a guard of another form" : "";
}

std::string nameOf(const Document& document, const std::string& id) {
  return "n" + std::to_string(document.positionOf(id));
}

}  // namespace

RunCounts countsOf(const json::array& steps) {
  RunCounts counts{.any = true, .nodes = {}, .edges = {}};
  for (const json::value& step : steps) {
    const json::object& action = step.at("action").as_object();
    const std::string type(action.at("type").as_string());
    if (type == "Deliver" && action.at("attempt").as_int64() == 1)
      ++counts.nodes[std::string(action.at("node").as_string())];
    if (const json::value* sends = action.if_contains("sends"); type == "Finish" && sends != nullptr)
      for (const json::value& send : sends->as_array()) ++counts.edges[std::string(send.at("edge").as_string())];
  }
  return counts;
}

std::string drawMermaid(const Document& document, const RunCounts& counts) {
  std::string out = "flowchart TD\n";
  for (const Node& node : document.nodes) {
    const bool crosses = node.monitor.has_value();
    out += "  " + nameOf(document, node.id) + (crosses ? "[[\"" : "[\"") + node.id + counts.ofNode(node.id) + "<br/>" +
           toString(node.kind) + (crosses ? "<br/>" + node.monitor->boundary + " " + node.monitor->operation : "") +
           (crosses ? "\"]]\n" : "\"]\n");
  }
  for (const Edge& edge : document.edges) {
    const std::string guard = guardText(edge);
    const std::string label =
        "\"" + edge.type + counts.ofEdge(edge.name) + (guard.empty() ? "" : "<br/>" + guard) + "\"";
    out += "  " + nameOf(document, edge.from) + (edge.guard ? " -. " : " -- ") + label +
           (edge.guard ? " .-> " : " --> ") + nameOf(document, edge.to) + "\n";
  }
  return out;
}

std::string drawDot(const Document& document, const RunCounts& counts) {
  std::string out = "digraph \"" + document.id + "\" {\n  node [shape=box];\n";
  for (const Node& node : document.nodes)
    out += "  " + nameOf(document, node.id) + " [label=\"" + node.id + counts.ofNode(node.id) + "\\n" +
           toString(node.kind) +
           (node.monitor ? "\\n" + node.monitor->boundary + " " + node.monitor->operation + "\", peripheries=2];\n"
                         : "\"];\n");
  for (const Edge& edge : document.edges) {
    const std::string guard = guardText(edge);
    out += "  " + nameOf(document, edge.from) + " -> " + nameOf(document, edge.to) + " [label=\"" + edge.type +
           counts.ofEdge(edge.name) + (guard.empty() ? "\"];\n" : "\\n" + guard + "\", style=dashed];\n");
  }
  return out + "}\n";
}

}  // namespace witan::node
