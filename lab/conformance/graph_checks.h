// The rows G of `witan conformance kernels`: graphs of episodes on the runtime in memory (seed 004, theorems 1 and 2,
// lemma 1). Each function is a row, or the twin of one: then it passes if the broken thing was found out.
#pragma once

#include "lab/conformance/kernels.h"

namespace witan::agents::conformance {

Finding cyclesAreBounded();  // G-01
Finding unboundedCycleShows();
Finding fullCyclesMove();  // G-01b
Finding waitingCycleShows();
Finding lanesKeepOrder();  // G-02
Finding brokenLaneShows();
Finding nothingPassesUnjudged();  // G-03
Finding unjudgedShows();
Finding effectsOnceThroughDeaths();  // T2
Finding doubledEffectShows();
Finding graphsOnlyNarrow();  // L4, L5: in the checks before a graph runs, and at each call
Finding widerGraphShows();

}  // namespace witan::agents::conformance
