#include "base/held_clock.h"

#include <gtest/gtest.h>

namespace witan::held_clock_test {
namespace {

constexpr std::int64_t kDay = kMicrosPerDay, kSecond = kMicrosPerSecond;

class HeldClockTest : public ::testing::Test {
 protected:
  // After so many milliseconds, with a wall clock that is so far ahead of a good one: how far what is believed is.
  std::int64_t after(std::int64_t ms, std::int64_t aheadMicros = 0) {
    steadyMs_ += ms;
    const std::int64_t good = kSampleStart.micros + steadyMs_ * 1'000;
    return clock_.at(Time{good + aheadMicros}, steadyMs_).micros - good;
  }
  std::optional<HeldClock::Event> event() {
    const auto told = clock_.take();
    return told ? std::optional(told->event) : std::nullopt;
  }

  HeldClock clock_;
  std::int64_t steadyMs_ = 5'000;
};

using Event = HeldClock::Event;

TEST_F(HeldClockTest, AClockThatRunsIsBelieved) {
  EXPECT_EQ(after(0), 0);
  EXPECT_EQ(after(3'600'000, 30 * kSecond), 30 * kSecond) << "it was set right";
  EXPECT_EQ(after(10, -20 * kSecond), -20 * kSecond);
  EXPECT_EQ(event(), std::nullopt);
}

TEST_F(HeldClockTest, AJumpThatGoesBackNeverWas) {
  after(0);
  for (const std::int64_t jump : {2 * kDay, -2 * kDay}) {
    EXPECT_EQ(after(1'000, jump), 0);
    EXPECT_EQ(event(), Event::jumped);
    EXPECT_EQ(after(4'000, jump), 0) << "time goes on meanwhile";
    EXPECT_EQ(event(), std::nullopt);
    EXPECT_EQ(after(1'000), 0);
    EXPECT_EQ(event(), Event::cameBack);
  }
}

TEST_F(HeldClockTest, AJumpThatLastsIsBelieved) {
  after(0);
  EXPECT_EQ(after(1'000, 2 * kDay), 0);
  EXPECT_EQ(event(), Event::jumped);
  EXPECT_EQ(after(kClockHoldMs - 1, 2 * kDay), 0);
  EXPECT_EQ(after(1, 2 * kDay), 2 * kDay);
  EXPECT_EQ(event(), Event::believed);
  EXPECT_EQ(after(1'000, 2 * kDay), 2 * kDay);
}

TEST_F(HeldClockTest, AClockThatJumpsOnIsNotBelievedForIt) {
  after(0);
  after(1'000, kDay);
  EXPECT_EQ(event(), Event::jumped);
  for (int i = 2; i < 20; ++i) EXPECT_EQ(after(kClockHoldMs / 2, i * kDay), 0) << i;
  EXPECT_EQ(event(), std::nullopt) << "one jump, one word";
  after(1'000, 20 * kDay);
  EXPECT_EQ(after(kClockHoldMs, 20 * kDay), 20 * kDay);
}

TEST(JumpText, SaysHowFar) {
  EXPECT_EQ(jumpText(2 * kDay + 3 * kMicrosPerHour), "2 d 3 h ahead");
  EXPECT_EQ(jumpText(-90 * kSecond), "90 s behind");
  EXPECT_EQ(jumpText(90 * 60 * kSecond), "1 h 30 min ahead");
}

}  // namespace
}  // namespace witan::held_clock_test
