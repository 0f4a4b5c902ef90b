#include "sim/run.h"

#include <algorithm>

#include "sim/draw.h"

namespace witan::sim {

namespace {

using Digests = std::vector<std::uint64_t>;

std::size_t firstDifference(const Digests& a, const Digests& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The last line told before the digest of `step` was made: only in a third run, because text takes time.
std::string toldAt(const Plan& plan, const Runner& run, std::size_t step) {
  Digests digests;
  std::string line;
  RunOptions options;
  options.digests = &digests;
  options.trace = [&](const TraceLine& told) {
    if (digests.size() > step) return;
    line = std::to_string(told.at) + " us: ";
    line += told.what;
    line += told.detail.empty() ? "" : " ";
    line += told.detail;
  };
  run(plan, options);
  return line;
}

}  // namespace

RunResult runTwice(const Plan& plan, const Runner& run) {
  Digests first, second;
  RunResult result = run(plan, {.digests = &first});
  const RunResult again = run(plan, {.digests = &second});
  const bool sameEnd = result.failure.has_value() == again.failure.has_value() &&
                       (!result.failure || (result.failure->checker == again.failure->checker &&
                                            result.failure->reason == again.failure->reason));
  if (result.digest == again.digest && first == second && sameEnd) return result;
  if (result.failure) {
    result.failure->reason += " (and a second run of the same plan went differently)";
    return result;
  }
  const std::size_t step = firstDifference(first, second);
  std::string reason = "two runs of one plan differ";
  if (step < std::max(first.size(), second.size())) {
    reason += " from step " + std::to_string(step) + " on (of " + std::to_string(first.size()) + " and " +
              std::to_string(second.size()) + ")";
    if (const std::string line = toldAt(plan, run, step); !line.empty()) reason += "; about there: " + line;
  } else {
    reason += " in their results only";
  }
  result.failure = Failure{"determinism", reason, result.statistics.simulated};
  return result;
}

bool chosenForTwice(std::uint64_t seed, std::int64_t perMillion) {
  SeededRandom random(streamSeed(seed, "twice"));
  return static_cast<std::int64_t>(random.below(1'000'000)) < perMillion;
}

}  // namespace witan::sim
