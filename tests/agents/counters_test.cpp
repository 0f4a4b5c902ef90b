// What agents have spent of a day and used in an hour, when it may be forgotten.
#include <gtest/gtest.h>

#include "agents/host/standing.h"
#include "agents/knowledge.h"
#include "base/time.h"

namespace witan::agents::counters_test {
namespace {

// A clock that was ahead for a while, or a feed of another year.
TEST(Knowledge, CountersOfTheFutureDisplaceNothing) {
  const std::vector<Capability> rate{{.resource = "mail.send", .perHour = 3}};
  const Time today = parseTime("2026-03-23T10:30:00Z").value();
  Knowledge known, joined;
  for (int hour = 0; hour < 60; ++hour)
    countUses(known, standingHour(Time{today.micros + (1'000 + 8 * hour) * kMicrosPerHour}), "a", rate, "mail.send", 1);
  for (int hour = 40; hour >= 0; --hour)
    countUses(known, standingHour(Time{today.micros - hour * kMicrosPerHour}), "a", rate, "mail.send", 3);
  join(joined, known);
  forgetCounters(joined, today);
  EXPECT_EQ(ratesLeft(rate, joined, standingHour(today)).at("mail.send"), 0);
  EXPECT_EQ(joined.used->begin()->first, standingHour(Time{today.micros - 25 * kMicrosPerHour}));
}

// What a run forgets while the clock is ahead counts when it is right again.
TEST(Knowledge, AClockThatIsAheadForgetsNothingOfToday) {
  const std::vector<Capability> rate{{.resource = "mail.send", .perHour = 3}};
  const Time today = parseTime("2026-03-23T10:30:00Z").value(), ahead{today.micros + 30 * kMicrosPerDay};
  Knowledge known;
  countUses(known, standingHour(today), "a", rate, "mail.send", 3);
  spend(known, standingDay(today), "a", {{"", {.tokens = 100}}});
  for (int run = 0; run < 3; ++run) {
    forgetCounters(known, ahead);
    countUses(known, standingHour(ahead), "a", rate, "mail.send", 1);
    spend(known, standingDay(ahead), "a", {{"", {.tokens = 10}}});
  }
  forgetCounters(known, today);
  EXPECT_EQ(ratesLeft(rate, known, standingHour(today)).at("mail.send"), 0);
  EXPECT_EQ(standingLeft({{.name = "day", .tokens = 100}}, "x", known, standingDay(today)).at("").tokens, 0);
}

// Nor do old ones keep an agent from its runs.
TEST(Knowledge, OldCountersMakeRoom) {
  const std::vector<Capability> rate{{.resource = "mail.send", .perHour = 3}};
  const Time today = parseTime("2026-03-23T10:30:00Z").value();
  Knowledge known;
  for (int day = 1; day < 9; ++day)
    for (int device = 0; device < 200; ++device)
      countUses(known, standingHour(Time{today.micros - day * 3 * kMicrosPerDay}), concat("device-", device), rate,
                "mail.send", 1);
  EXPECT_FALSE(hasRoomForCounters(known));
  forgetCounters(known, today);
  EXPECT_TRUE(hasRoomForCounters(known));
}

}  // namespace
}  // namespace witan::agents::counters_test
