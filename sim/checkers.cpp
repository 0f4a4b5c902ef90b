#include "sim/checkers.h"

namespace witan::sim {

namespace {

constexpr CheckerInfo kCheckers[] = {
    // --- at every moment
    {"bounded-memory", "A device holds back only so much: its inbox, its queues and its buffers stay within bounds."},
    {"store", "What a device wrote it can read again, until its disk fails."},
    // --- at the end
    {"liveness", "Once faults have ended, everything that is pending is done within settleSeconds."},
    {"convergence", "After the settling phase, devices that share a scope hold the same versions of the same records."},
    {"no-write-lost",
     "What was durable on a disk that was not lost is still there, or was overwritten by somebody who had seen it."},
    {"ledger-rules",
     "Every ledger can be verified and decided again: numbers without gaps, one entry a decision, every rule kept."},
    {"ledger-convergence", "All replicas of a partition hold the same log."},
    // --- about the run itself
    {"determinism", "The same plan gives the same run, step by step."},
    {"assertion", "No assertion of the code that is simulated fails."},
    {"crash", "The code that is simulated does not crash."},
    {"hang", "A run ends."},
    {"scenario", "Every seed of a scenario draws options that can be simulated."},
};

}  // namespace

std::span<const CheckerInfo> checkers() { return kCheckers; }

std::string_view checkerPromise(std::string_view name) {
  for (const CheckerInfo& checker : kCheckers)
    if (checker.name == name) return checker.promise;
  return {};
}

}  // namespace witan::sim
