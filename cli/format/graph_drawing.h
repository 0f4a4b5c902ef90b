// A graph as text for other programs: Mermaid, DOT, or SVG with a layout of our own. Guarded edges are dashed and show
// their bound; nodes at a boundary have a double border. Of a run: with what each node was given, and each edge
// carried. Pure functions, any thread. Requires of the document: names are unique and exist (GL02, GL03).
#pragma once

#include <map>
#include <string>

#include "kernel/graph/document.h"

namespace witan::node {

struct RunCounts {
  bool any = false;
  std::map<std::string, std::int64_t> nodes, edges;  // deliveries, messages

  // " (3)"; nothing, if no run is drawn.
  std::string ofNode(const std::string& id) const { return count(nodes, id); }
  std::string ofEdge(const std::string& name) const { return count(edges, name); }

 private:
  std::string count(const std::map<std::string, std::int64_t>& of, const std::string& name) const {
    if (!any) return "";
    const auto at = of.find(name);
    return " (" + std::to_string(at == of.end() ? 0 : at->second) + ")";
  }
};
// `steps`: {"action"} each, of one run.
RunCounts countsOf(const json::array& steps);

std::string drawMermaid(const graph::Document& document, const RunCounts& counts = {});
std::string drawDot(const graph::Document& document, const RunCounts& counts = {});
std::string drawSvg(const graph::Document& document, const RunCounts& counts = {});

}  // namespace witan::node
