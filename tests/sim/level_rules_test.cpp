// What a device keeps of the work of agents is level once the horizon has passed.
#include <gtest/gtest.h>

#include "sim/check/level_rules.h"

namespace witan::sim {
namespace {

KeptLevel levelOf(std::uint64_t entries) {
  KeptLevel level;
  level.entries = entries;
  return level;
}

TEST(LevelRules, TheFirstWeeksMayGrowAndLaterOnesMayNot) {
  LevelRules rules(14);
  for (std::int64_t day = 4; day < 35; day += 7)
    EXPECT_EQ(rules.looked("a", day, levelOf(static_cast<std::uint64_t>(day) * 100)), "") << day;
  EXPECT_EQ(rules.looked("a", 39, levelOf(3'200)), "");
  EXPECT_EQ(rules.looked("b", 46, levelOf(4'800)), "") << "half as much again, of the most that any device kept";
  EXPECT_NE(rules.looked("b", 53, levelOf(4'900)).find("b keeps 4900 entries on day 53"), std::string::npos);
  EXPECT_EQ(rules.looked("b", 60, levelOf(100)), "");
}

TEST(LevelRules, WhatGrowsByTheWeekIsFoundInTheSecondWeekAfterTheLevel) {
  LevelRules rules(7);
  std::int64_t found = 0;
  for (std::int64_t day = 4; day < 365 && found == 0; day += 7)
    if (!rules.looked("a", day, levelOf(static_cast<std::uint64_t>(day) * 10)).empty()) found = day;
  EXPECT_GT(found, 28);
  EXPECT_LT(found, 53);
}

TEST(LevelRules, OfLittleALittleMoreIsChance) {
  LevelRules rules(7);
  EXPECT_EQ(rules.looked("a", 20, levelOf(1)), "");
  EXPECT_EQ(rules.looked("a", 40, levelOf(30)), "");
  EXPECT_NE(rules.looked("a", 47, levelOf(60)), "");
}

TEST(LevelRules, WordsNameAllThatIsKept) {
  EXPECT_EQ(wordsOf(levelOf(3)),
            "3 entries, 0 plans, 0 runs, 0 operations, 0 approvals, 0 batches, 0 tombstones, 0 agentsKb, 0 journalKb");
}

}  // namespace
}  // namespace witan::sim
