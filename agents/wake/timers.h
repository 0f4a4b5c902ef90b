// Timers: wakes at multiples of an interval since 1970, wall time.
//
// Which wake a timer owes is a function of the wall clock alone: the last multiple that is not in the future. So of
// several that were missed only the last one runs, all devices derive the same run key, and a clock that was wrong
// for a while needs no repair: multiples that ran are known by their run keys and do not run again. No state here.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace witan::agents {

inline constexpr std::int64_t kMinTimerMs = 1000;
inline constexpr std::int64_t kMaxTimerMs = 366LL * 86'400'000;

// Errors: shorter than kMinTimerMs or longer than kMaxTimerMs.
Status checkTimer(std::int64_t everyMs);

// The multiple that is owed at `wallMs`; 0 before the first. Requires: checkTimer(everyMs) is ok.
std::int64_t owedAt(std::int64_t everyMs, std::int64_t wallMs);

}  // namespace witan::agents
