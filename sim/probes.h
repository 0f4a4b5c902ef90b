// The names of probes: the rare things that a run counts (RunResult::probes) and a scenario may expect. Whoever counts
// another one lists it in sim/probes.cpp. Pure of state, any thread.
#pragma once

#include <string>
#include <vector>

namespace witan::sim {

// Sorted.
const std::vector<std::string>& probeNames();

}  // namespace witan::sim
