// Shrinking: from a plan that fails, the smallest one that fails in the same way.
//
// Delta debugging (ddmin: Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the
// events, then simpler values (shorter, fewer devices, a calmer network), again and again until nothing changes. "The
// same way" is: the same checker. Plans stay ones that can be
// simulated. The result is 1-minimal: without any one of its events the failure is gone, unless
// the limits ended the search before.
//
// No clock and no process here: whoever calls says how a plan is run and when it has been long enough.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/run.h"

namespace witan::sim {

using PlanRunner = std::function<RunResult(const Plan&)>;

struct ShrinkProgress {
  std::string_view doing;  // a few words
  std::uint64_t runs = 0;
  std::size_t events = 0;  // of the smallest plan so far
};

struct ShrinkLimits {
  std::uint64_t runs = 10'000;
  std::function<bool(const ShrinkProgress&)> goOn;  // asked before every run; may be empty
  // Where a broken variant is run: the program as it is. A plan that fails there too shows another fault, and is not
  // taken. Empty: nothing is broken.
  PlanRunner sound;
};

struct Shrunk {
  Plan plan;
  Failure failure;  // of this plan
  Failure first;    // of the one that was given: the same checker, perhaps in other words
  std::uint64_t runs = 0;
  bool minimal = false;  // false: the limits ended it
};

// Error: the plan does not fail.
Result<Shrunk> shrink(const Plan& plan, const PlanRunner& run, const ShrinkLimits& limits = {});

}  // namespace witan::sim
