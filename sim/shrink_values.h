// The simpler values that the shrinker tries; nobody else needs it.
#pragma once

#include <functional>

#include "sim/plan.h"

namespace witan::sim {

// Makes a plan the best one if it still fails, and says whether it did.
using KeepIfFails = std::function<bool(const Plan&)>;

// A smaller cluster, a calmer network, exact clocks, a shorter time. `best` is what `keep` last kept.
void simplifyOptions(const Plan& best, const KeepIfFails& keep);

// Shorter faults, smaller choices, rounder times.
void simplifyEvents(const Plan& best, const KeepIfFails& keep);

}  // namespace witan::sim
