// The static checks of a graph, GL01 to GL23 and GW01 to GW04, and the bound on its deliveries (docs/graphs.md).
// A graph without errors ends: every run of it completes, or waits for a person. Pure functions, any thread.
#pragma once

#include <optional>
#include <vector>

#include "kernel/graph/document.h"
#include "kernel/graph/environment.h"

namespace witan::graph {

inline constexpr int kMaxSubgraphDepth = 8;
inline constexpr int kMaxSubgraphChecks = 4096;  // in one check: nested graphs multiply

struct Checked {
  std::vector<Finding> errors;               // GL..; one forbids deployment
  std::vector<Finding> warnings;             // GW..
  std::optional<std::int64_t> bound;         // the most deliveries of one run, with one message at each ingress
  std::shared_ptr<const Document> document;  // null: GL01 failed
};

// What the environment answers for. What it does not answer for is no finding.
enum class Answers {
  nothing,  // what the document says itself is checked
  own,      // its tools, domains and boundaries; agents, their tools, markets and graphs that it lacks are elsewhere
  all,
};

Checked checkGraph(const json::value& document, const Environment& environment, Answers answers = Answers::all);

// "*" covers everything, "journal.*" what begins with "journal.", anything else itself (as capabilities of agents).
bool coversTool(std::string_view pattern, std::string_view tool);

}  // namespace witan::graph
