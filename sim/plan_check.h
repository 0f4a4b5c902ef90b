// Whether an event can happen in a run at all: with its end, the time for work and faults is over, and what was to come
// later would never be looked at. Pure function.
#pragma once

#include "sim/plan.h"

namespace witan::sim {

// Errors: it comes after the end of the run; with both times.
Status checkWithinRun(const Event& event, const Options& options);

}  // namespace witan::sim
