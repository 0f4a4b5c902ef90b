// HeldClock: the wall clock as a node believes it. A clock that is wrong for a moment would end what people have yet to
// answer, give agents another day's budget and date entries for good; so a jump counts only when it has lasted. Until
// then time goes on by the steady clock, and if the clock comes back nothing has happened.
//
// Sans-I/O: both clocks come as arguments. The steady one goes on while the machine sleeps, or each sleep is a jump.
// One owner; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"

namespace witan {

inline constexpr std::int64_t kClockJumpMicros = 60 * kMicrosPerSecond;
inline constexpr std::int64_t kClockHoldMs = 10 * 60'000;

class HeldClock {
 public:
  // What is believed when the clocks show this. Steady time never goes back.
  Time at(Time wall, std::int64_t steadyMs);

  enum class Event { jumped, cameBack, believed };
  struct Told {
    Event event;
    std::int64_t micros = 0;  // how far the wall clock is ahead of what was believed
  };
  // What has changed since it was last asked, once.
  std::optional<Told> take() { return std::exchange(told_, std::nullopt); }

 private:
  struct Jump {
    std::int64_t micros = 0;
    std::int64_t sinceMs = 0;
  };
  std::optional<Time> believed_;
  std::int64_t atMs_ = 0;
  std::optional<Jump> jump_;
  std::optional<Told> told_;
};

// "2 d 3 h ahead", "90 s behind".
std::string jumpText(std::int64_t micros);

}  // namespace witan
