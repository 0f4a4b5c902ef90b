// Lengths of time as people write them: "2m30s", "10ms", "30d". Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::sim {

// Whole numbers with d, h, m, s, ms or us, the larger units first, each at most once. In microseconds, at most about
// ten thousand years; never negative.
Result<std::int64_t> parseDuration(std::string_view text);

// The shortest text that parseDuration reads back: 150'000'000 is "2m30s". Requires: not negative.
std::string formatDuration(std::int64_t micros);

}  // namespace witan::sim
