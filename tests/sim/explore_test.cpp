// The explorer on a toy whose bug and whose number of states are known; then the stated configurations. Larger bounds
// of the same: witan sim explore.
#include "sim/explore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/explore/cluster_model.h"
#include "sim/explore/configurations.h"
#include "sim/explore/merge_model.h"

namespace witan::sim::explore_test {
namespace {

using ::testing::HasSubstr;

// Two jugs, of 3 and of 5 litres: filled, emptied, poured into each other.
class Jugs final : public ExploreModel {
 public:
  explicit Jugs(std::uint32_t forbidden) : forbidden_(forbidden) {}
  Explored start() override { return {0, 0}; }
  void steps(const Explored& from, const Visit& visit) override {
    const std::uint32_t a = from[0], b = from[1];
    visit({3, b});
    visit({a, 5});
    visit({0, b});
    visit({a, 0});
    visit({a - std::min(a, 5 - b), b + std::min(a, 5 - b)});
    visit({a + std::min(3 - a, b), b - std::min(3 - a, b)});
  }
  std::string nameOf(const Explored&, std::size_t n) override {
    constexpr const char* kNames[] = {"fill a", "fill b", "empty a", "empty b", "a into b", "b into a"};
    return kNames[n];
  }
  std::string problem(const Explored& state) override {
    return state[1] == forbidden_ ? "b holds " + std::to_string(forbidden_) : "";
  }
  std::string describe(const Explored& state) override {
    return std::to_string(state[0]) + " and " + std::to_string(state[1]);
  }

 private:
  const std::uint32_t forbidden_;
};

TEST(Explore, FindsAShortestWay) {
  Jugs jugs(4);
  const ExploreResult result = explore(jugs, {});
  ASSERT_TRUE(result.counterexample.has_value());
  EXPECT_EQ(result.counterexample->problem, "b holds 4");
  ASSERT_EQ(result.counterexample->steps.size(), 6u);
  EXPECT_EQ(result.counterexample->steps.back().state, "3 and 4");
  EXPECT_FALSE(result.exhausted);
  EXPECT_THAT(counterexampleText(result), HasSubstr("  6. b into a\n       3 and 4\n"));
}

TEST(Explore, ExhaustsAndCounts) {
  Jugs jugs(6);
  const ExploreResult result = explore(jugs, {});
  EXPECT_TRUE(result.exhausted);
  EXPECT_FALSE(result.counterexample.has_value());
  EXPECT_EQ(result.states, 16u);  // one of the two is always empty or full
  EXPECT_EQ(result.transitions, 16u * 6);
  EXPECT_EQ(counterexampleText(result), "");
}

TEST(Explore, StopsAtItsBounds) {
  Jugs jugs(4);
  const ExploreResult shallow = explore(jugs, {.depth = 5});
  EXPECT_FALSE(shallow.counterexample.has_value());
  EXPECT_FALSE(shallow.exhausted);
  EXPECT_EQ(shallow.depth, 5u);
  const ExploreResult few = explore(jugs, {.states = 3});
  EXPECT_EQ(few.states, 3u);
  EXPECT_FALSE(few.exhausted);
}

TEST(Explore, AProblemAtTheStart) {
  Jugs jugs(0);
  const ExploreResult result = explore(jugs, {});
  ASSERT_TRUE(result.counterexample.has_value());
  EXPECT_TRUE(result.counterexample->steps.empty());
}

// --- seed 003's merge and ours (docs/FINDINGS.md, F1)

TEST(ExploreMerge, TheLiteralMergeFallsApart) {
  const auto model = literalMergeModel({.devices = 3, .writesEach = 2, .writes = 3, .changes = 2});
  const ExploreResult result = explore(*model, {});
  ASSERT_TRUE(result.counterexample.has_value());
  EXPECT_EQ(result.counterexample->problem, "a and b have received the same and show different states");
  // Three writes and three deliveries are needed; fewer show nothing.
  EXPECT_EQ(result.counterexample->steps.size(), 6u);
  const std::string& last = result.counterexample->steps.back().state;
  EXPECT_THAT(last, HasSubstr("a: active, 0 failures, wakes at 10, sleeps until 0, clock {a:2 b:1}"));
  EXPECT_THAT(last, HasSubstr("b: dormant, 3 failures, wakes at 5, sleeps until 9, clock {a:2 b:1}"));
}

TEST(ExploreMerge, TwoWritesAreTooFewForIt) {
  const auto model = literalMergeModel({.devices = 3, .writesEach = 2, .writes = 2, .changes = 2});
  const ExploreResult result = explore(*model, {});
  EXPECT_TRUE(result.exhausted);
  EXPECT_FALSE(result.counterexample.has_value());
}

TEST(ExploreMerge, OursDoesNot) {
  const auto model = witanMergeModel({.devices = 3, .writesEach = 2, .writes = 3, .changes = 3});
  const ExploreResult result = explore(*model, {});
  EXPECT_EQ(counterexampleText(result), "");
  EXPECT_TRUE(result.exhausted);
}

// --- clusters of real devices

void expectExhausted(const ClusterBounds& bounds, std::size_t atLeast) {
  ClusterModel model(bounds);
  const ExploreResult result = explore(model, {});
  EXPECT_EQ(counterexampleText(result), "");
  EXPECT_TRUE(result.exhausted);
  EXPECT_GE(result.states, atLeast);
  std::printf("%zu states, %zu transitions, depth %zu\n", result.states, result.transitions, result.depth);
}

TEST(ExploreCluster, SyncWithACut) {
  expectExhausted({.writesEach = 2, .writes = 2, .connections = 2, .cuts = 1}, 10'000);
}
TEST(ExploreCluster, SyncWithARemoval) {
  expectExhausted({.writesEach = 2, .writes = 2, .removals = 1, .connections = 1}, 1'000);
}
TEST(ExploreCluster, SyncWithPowerLossInTheMiddleOfAWrite) {
  expectExhausted({.writesEach = 1, .writes = 1, .connections = 2, .crashes = 1, .midWrite = true}, 5'000);
}
TEST(ExploreCluster, HandoverOnALossyLine) {
  expectExhausted(
      {.ledgers = true, .proposals = 1, .moves = 1, .losses = 1, .repetitions = 1, .overtakings = 1, .ticks = 1},
      20'000);
}
TEST(ExploreCluster, SeizureFromAnOwnerThatGoesOn) {
  expectExhausted({.ledgers = true, .proposals = 2, .seizures = 1, .connections = 2, .cuts = 1}, 18'000);
}
// A handover under way to a device that seizes; entries set aside when the power goes.
TEST(ExploreCluster, HandoverAndSeizureWithoutPower) {
  expectExhausted(
      {.ledgers = true, .moves = 1, .seizures = 1, .connections = 2, .cuts = 1, .crashes = 1, .midWrite = true},
      10'000);
}
TEST(ExploreCluster, TwoSeizuresAmongThree) {
  expectExhausted({.devices = 3, .ledgers = true, .seizures = 2, .cuts = 1}, 2'000);
}

TEST(ExploreConfigurations, AreNamed) {
  for (const ExploreConfiguration& configuration : exploreConfigurations()) {
    const auto found = exploreConfiguration(configuration.name);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, &configuration);
    const auto model = configuration.make();
    EXPECT_EQ(model->problem(model->start()), "") << configuration.name;
    EXPECT_NE(model->describe(model->start()), "") << configuration.name;
  }
  const auto none = exploreConfiguration("nonsense");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().hint, HasSubstr("literal-merge"));
}

}  // namespace
}  // namespace witan::sim::explore_test
