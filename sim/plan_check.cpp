#include "sim/plan_check.h"

#include "sim/duration.h"

namespace witan::sim {

Status checkWithinRun(const Event& event, const Options& options) {
  const Micros end = options.time.seconds * 1'000'000;
  if (event.at <= end) return okStatus();
  return invalid("at: " + std::string(enumName(event.kind)) + " at " + formatDuration(event.at) +
                     " comes after the end of the run, at " + formatDuration(end),
                 "give it an earlier time, or the run a longer one (time.seconds)");
}

}  // namespace witan::sim
