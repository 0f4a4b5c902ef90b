// Both clocks of a device at one moment: the wall's, for stamps and due times that people set, which may jump; and a
// steady one, for waiting. Cores are told; they never ask.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace witan {

struct Now {
  Time wall;
  std::int64_t ms = 0;  // steady; of this start of the process only
  std::int64_t wallMs() const { return wall.micros / 1000; }
};

}  // namespace witan
