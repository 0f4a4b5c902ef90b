// Histogram: how often a time was at most so long, in the fixed bounds that /metrics shows.
//
// A value; belongs to the thread of its daemon. O(bounds) for each time.
#pragma once

#include <array>
#include <cstdint>

namespace witan {

inline constexpr std::array<std::int64_t, 11> kTimeBoundsMs{1, 2, 5, 10, 25, 50, 100, 250, 1'000, 2'500, 10'000};

struct Histogram {
  std::array<std::uint64_t, kTimeBoundsMs.size()> atMost{};  // cumulative, as Prometheus has them
  std::uint64_t count = 0;
  std::int64_t sumMs = 0;

  void add(std::int64_t ms) {
    ++count;
    sumMs += ms;
    for (std::size_t i = 0; i < kTimeBoundsMs.size(); ++i) atMost[i] += ms <= kTimeBoundsMs[i] ? 1 : 0;
  }
};

}  // namespace witan
