#include "agents/wake/timers.h"

#include <string>

namespace witan::agents {

Status checkTimer(std::int64_t everyMs) {
  if (everyMs < kMinTimerMs || everyMs > kMaxTimerMs)
    return invalid("a timer of " + std::to_string(everyMs) + " ms (from " + std::to_string(kMinTimerMs) + " to " +
                   std::to_string(kMaxTimerMs) + ")");
  return okStatus();
}

std::int64_t owedAt(std::int64_t everyMs, std::int64_t wallMs) { return wallMs < 0 ? 0 : wallMs / everyMs * everyMs; }

}  // namespace witan::agents
