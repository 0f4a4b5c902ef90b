// Toy graphs and a host for them whose process dies at chosen writes, for the rows G of `witan conformance kernels`.
// The host is the real runtime over a list of durable entries; the agents decide by the hash of seed and span.
// Deterministic.
#pragma once

#include <map>
#include <optional>

#include "kernel/graph/runtime.h"
#include "lab/conformance/graph_laws.h"

namespace witan::agents::conformance {

// ingress -> first -> second -> egress with an effect; second -> first and second -> second with bounds of 1 to 3; a
// function beside them. All checks pass.
std::shared_ptr<const graph::Document> toyGraph(std::uint64_t seed);
graph::Monitor allowAll();
graph::Monitor denyAll();  // what an empty policy says

struct GraphLife {
  std::optional<std::uint64_t> dieAt;  // the write before which (2n) or after which (2n + 1) the process dies
  bool checksRecords = true;           // before an effect: whether the operation was carried out
  bool hasPolicy = true;
};

struct GraphLived {
  std::shared_ptr<const graph::Document> document;
  GraphLedger ledger;
  std::map<std::string, int> world;  // how often each operation changed it
  std::vector<graph::RunView> runs;
  std::uint64_t writes = 0;
  bool stuck = false;
};

GraphLived liveGraph(std::uint64_t seed, const GraphLife& life = {});

}  // namespace witan::agents::conformance
