// A run of a graph in virtual time: scripted nodes, a scripted monitor, events, crashes. For tests and `graph run
// --script`. A pure function of the case; any thread.
#pragma once

#include <functional>

#include "kernel/graph/runtime.h"
#include "kernel/graph/script_case.h"

namespace witan::graph {

// Of all runs of one case together.
struct ScriptLimits {
  std::int64_t lines = 1'000'000;              // of the projection
  std::size_t bytes = std::size_t{256} << 20;  // of bodies that were sent
};

struct ScriptWatch {                              // each may be empty
  std::function<void(const json::object&)> line;  // of the projection, in order
  // What a durable runtime would have written, and the state that holds it.
  std::function<void(const Entry&, const Runtime&)> entry;
};

// {"counts", "runs", "world", "waiting"} at the end. Errors: invalid, with the place; a limit from above was reached,
// or a redelivery names no message.
Result<json::object> runScript(const ScriptedCase& scripted, const ScriptWatch& watch = {},
                               const ScriptLimits& limits = {});

}  // namespace witan::graph
