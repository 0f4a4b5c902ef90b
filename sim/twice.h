// A run made twice: does the same plan give the same trace? If not, something outside the plan was read (a clock, an
// address, the order of a hash table), and no failure of this code can be replayed.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/run.h"

namespace witan::sim {

using Runner = std::function<RunResult(const Plan&, const RunOptions&)>;

// The first run's result; with checker "determinism" if the second one differs (unless the first failed otherwise),
// naming the first step that does and what was told there.
RunResult runTwice(const Plan& plan, const Runner& run);

// Does this seed belong to the share of those that run twice? Always the same answer.
bool chosenForTwice(std::uint64_t seed, std::int64_t perMillion);

}  // namespace witan::sim
