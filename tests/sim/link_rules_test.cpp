// What may be late on links that nothing has disturbed, and what an overlay of few links owes each device.
#include "sim/check/link_rules.h"

#include <gtest/gtest.h>

namespace witan::sim::link_rules_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

// Devices 0 and 1 are linked from the first second on; 0 commits in the twentieth.
struct Late : LateUpdates {
  Late() {
    for (const Ends& ends : {Ends{0, 1}, Ends{1, 0}}) sees(ends, true, kSecond);
    has(1, "agents/main", "a", 0, kSecond);
    has(0, "agents/main", "a", 7, 20 * kSecond);
  }
};
constexpr std::int64_t kDue = 20 * kSecond + LateUpdates::kSoon;

TEST(LateUpdates, WhatCrossesALinkTooLateIsFound) {
  Late rules;
  EXPECT_EQ(rules.late(kDue - 1), "");
  EXPECT_NE(rules.late(kDue).find("device 1 has 0 of the 7 commits"), std::string::npos);
  EXPECT_EQ(rules.late(kDue + kSecond), "") << "once";
}

TEST(LateUpdates, WhatIsThereInTimeIsNot) {
  Late rules;
  rules.has(1, "agents/main", "a", 7, kDue - 1);
  EXPECT_EQ(rules.late(kDue + kSecond), "");
  EXPECT_EQ(rules.judged(), 1u);
}

TEST(LateUpdates, FewerCommitsThanThereWereDoNotSuffice) {
  Late rules;
  rules.has(1, "agents/main", "a", 6, kDue - 1);
  EXPECT_NE(rules.late(kDue), "");
}

TEST(LateUpdates, ALinkThatWasCutOrIsNewExcusesIt) {
  Late cut;
  cut.sees({0, 1}, false, 21 * kSecond);
  cut.sees({0, 1}, true, 22 * kSecond);
  EXPECT_EQ(cut.late(kDue), "");
  Late anew;
  anew.linkedAnew({1, 0});
  anew.sees({0, 1}, true, 15 * kSecond);
  EXPECT_EQ(anew.late(kDue), "");
}

TEST(LateUpdates, AStopOfEitherEndExcusesIt) {
  for (const std::uint32_t device : {0u, 1u}) {
    Late rules;
    rules.stopped(device);
    EXPECT_EQ(rules.late(kDue), "") << device;
  }
}

TEST(LateUpdates, NothingIsOwedToADeviceWithoutTheSpace) {
  Late rules;
  rules.has(0, "agents/private-1", "a", 7, 21 * kSecond);
  rules.has(1, "agents/main", "a", 7, 21 * kSecond);
  EXPECT_EQ(rules.late(kDue + kSecond), "");
}

// --- few links

// Device 0 reaches eight others from the first second on, and is linked with so many of them.
struct Few : FewLinks {
  explicit Few(std::uint32_t linked) {
    for (std::uint32_t other = 1; other <= kOthers; ++other) reaches({0, other}, true, kSecond), all.insert(other);
    for (std::uint32_t other = 1; other <= linked; ++other) with.insert(other);
    links(0, with, kSecond);
  }
  std::set<std::uint32_t> all, with;
};
constexpr std::int64_t kSettled = kSecond + FewLinks::kSettled;

TEST(FewLinks, ADeviceThatStaysWithTooFewIsFound) {
  EXPECT_EQ(Few(2).tooFew(0, kSettled - 1), "");
  EXPECT_NE(Few(2).tooFew(0, kSettled), "");
  EXPECT_EQ(Few(3).tooFew(0, kSettled), "");
}

TEST(FewLinks, WhoHasJustLostALinkHasTimeToFindAnother) {
  Few rules(3);
  rules.links(0, {1, 2}, 30 * kSecond);
  EXPECT_EQ(rules.tooFew(0, kSettled), "");
  EXPECT_NE(rules.tooFew(0, 30 * kSecond + FewLinks::kSettled), "");
  rules.links(0, {1, 2, 3}, 200 * kSecond);
  EXPECT_EQ(rules.tooFew(0, 300 * kSecond), "");
}

TEST(FewLinks, WhoReachesFewOthersOwesNothing) {
  Few rules(2);
  rules.reaches({0, 8}, false, 50 * kSecond);
  rules.reaches({0, 8}, true, 51 * kSecond);
  EXPECT_EQ(rules.tooFew(0, kSettled), "");
  rules.stopped(0);
  EXPECT_EQ(rules.tooFew(0, 2 * kSettled), "");
}

// --- the same links

TEST(SameLinks, AnOverlayThatNeverChangesIsFound) {
  SameLinks rules;
  rules.linked({1, 2}, kSecond);
  rules.linked({2, 1}, 90 * 60 * kSecond);
  EXPECT_EQ(rules.same(2 * SameLinks::kSpan - 1), "");
  EXPECT_NE(rules.same(2 * SameLinks::kSpan), "");
  rules.linked({1, 3}, 90 * 60 * kSecond);
  EXPECT_EQ(rules.same(2 * SameLinks::kSpan), "");
}

}  // namespace
}  // namespace witan::sim::link_rules_test
