// A run of a graph in virtual time: scripted nodes, a scripted monitor, events, crashes. For tests and `graph run
// --script`. Pure function of the case; any thread.
#pragma once

#include "kernel/graph/runtime.h"

namespace witan::graph {

struct ScriptedRun {
  json::object result;         // ledger, counts, runs, world, waiting
  std::vector<Entry> entries;  // what a durable runtime would have written
  std::string fingerprint;     // of the state at the end
};

// The case: {"graph", "monitor", "script", "events"} as docs/graphs.md describes. Errors: invalid, with the place.
Result<ScriptedRun> runScript(const json::object& scripted);

}  // namespace witan::graph
