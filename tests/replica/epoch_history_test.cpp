// Lineages: where two logs part. KIP-101's cases, as a table.
#include "replica/core/log_hash_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace witan::node::epoch_history_test {
namespace {

using ::testing::HasSubstr;

EpochMark mark(std::uint64_t number, const std::string& device, std::uint64_t start) {
  return {number, device + "@00000001", start};
}

struct Case {
  const char* name;
  EpochHistory one, other;
  std::uint64_t common;
};

const Case kCases[] = {
    {"two empty logs", {{}, 0}, {{}, 0}, 0},
    {"one is empty", {{mark(1, "a", 0)}, 5}, {{}, 0}, 0},
    {"equal", {{mark(1, "a", 0)}, 5}, {{mark(1, "a", 0)}, 5}, 5},
    {"one is behind", {{mark(1, "a", 0)}, 5}, {{mark(1, "a", 0)}, 3}, 3},
    {"one knows of a later epoch", {{mark(1, "a", 0)}, 5}, {{mark(1, "a", 0), mark(2, "b", 5)}, 6}, 5},
    {"the old owner went on", {{mark(1, "a", 0)}, 9}, {{mark(1, "a", 0), mark(2, "b", 5)}, 12}, 5},
    {"a follower is behind the later epoch", {{mark(1, "a", 0)}, 4}, {{mark(1, "a", 0), mark(2, "b", 5)}, 12}, 4},
    {"two seizures of one number", {{mark(1, "a", 0), mark(2, "b", 5)}, 8}, {{mark(1, "a", 0), mark(2, "c", 4)}, 9}, 4},
    {"one epoch at two places", {{mark(1, "a", 0), mark(2, "b", 5)}, 8}, {{mark(1, "a", 0), mark(2, "b", 4)}, 9}, 4},
    {"a handover under way, and the seizure by whom it would have reached",
     {{mark(1, "a", 0), mark(2, "a", 5)}, 6},
     {{mark(1, "a", 0), mark(2, "b", 5)}, 7},
     5},
    {"a later epoch skipped one", {{mark(1, "a", 0), mark(2, "b", 5)}, 8}, {{mark(1, "a", 0), mark(3, "c", 7)}, 9}, 5},
    {"other clusters", {{mark(1, "a", 0)}, 5}, {{mark(1, "b", 0)}, 5}, 0},
};

TEST(EpochHistory, CommonBatches) {
  for (const Case& c : kCases) {
    EXPECT_EQ(commonBatches(c.one, c.other), c.common) << c.name;
    EXPECT_EQ(commonBatches(c.other, c.one), c.common) << c.name << ", the other way round";
    EXPECT_TRUE(checkEpochHistory(c.one).ok()) << c.name;
    EXPECT_TRUE(checkEpochHistory(c.other).ok()) << c.name;
  }
}

TEST(EpochHistory, EpochOfABatch) {
  const EpochHistory lineage{{mark(1, "a", 0), mark(2, "b", 5)}, 8};
  EXPECT_EQ(lineage.epochAt(0).number, 1u);
  EXPECT_EQ(lineage.epochAt(4).number, 1u);
  EXPECT_EQ(lineage.epochAt(5), (kernel::Epoch{2, "b@00000001"}));
  EXPECT_EQ(lineage.last(), lineage.epochAt(7));
  EXPECT_EQ(EpochHistory{}.last().number, 0u);
}

TEST(EpochHistory, WhatIsNone) {
  const auto problem = [](EpochHistory lineage) { return checkEpochHistory(lineage).error().message; };
  EXPECT_THAT(problem({{}, 3}), HasSubstr("without an epoch"));
  EXPECT_THAT(problem({{mark(1, "a", 1)}, 3}), HasSubstr("does not open it"));
  EXPECT_THAT(problem({{mark(0, "a", 0)}, 3}), HasSubstr("epoch 0 out of order"));
  EXPECT_THAT(problem({{mark(2, "a", 0), mark(2, "b", 1)}, 3}), HasSubstr("epoch 2 out of order"));
  EXPECT_THAT(problem({{mark(1, "a", 0), mark(2, "b", 0)}, 3}), HasSubstr("impossible batch"));
  EXPECT_THAT(problem({{mark(1, "a", 0), mark(2, "b", 3)}, 3}), HasSubstr("impossible batch"));
  EXPECT_THAT(problem({{{1, "no writer", 0}}, 3}), HasSubstr("epoch owner"));
  EXPECT_THAT(problem({std::vector<EpochMark>(kMaxEpochs + 1), 3}), HasSubstr("more than"));
}

}  // namespace
}  // namespace witan::node::epoch_history_test
