#include "base/held_clock.h"

#include <cstdlib>

#include "base/concat.h"

namespace witan {

Time HeldClock::at(Time wall, std::int64_t steadyMs) {
  if (!believed_) believed_ = wall, atMs_ = steadyMs;
  const Time expected{believed_->micros + (steadyMs - atMs_) * 1'000};
  const std::int64_t ahead = wall.micros - expected.micros;
  atMs_ = steadyMs;
  if (std::abs(ahead) <= kClockJumpMicros) {
    if (std::exchange(jump_, std::nullopt)) told_ = Told{Event::cameBack, ahead};
    return *(believed_ = wall);
  }
  if (!jump_) told_ = Told{Event::jumped, ahead};
  // A clock that jumps on is not believed either.
  if (!jump_ || std::abs(ahead - jump_->micros) > kClockJumpMicros) jump_ = Jump{ahead, steadyMs};
  if (steadyMs - jump_->sinceMs < kClockHoldMs) return *(believed_ = expected);
  jump_.reset();
  told_ = Told{Event::believed, ahead};
  return *(believed_ = wall);
}

std::string jumpText(std::int64_t micros) {
  const std::int64_t seconds = std::abs(micros) / kMicrosPerSecond, minutes = seconds / 60, hours = minutes / 60;
  const std::string much = hours >= 48     ? concat(hours / 24, " d ", hours % 24, " h")
                           : minutes >= 60 ? concat(hours, " h ", minutes % 60, " min")
                                           : concat(seconds, " s");
  return concat(much, micros < 0 ? " behind" : " ahead");
}

}  // namespace witan
