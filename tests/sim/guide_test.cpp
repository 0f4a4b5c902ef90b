// Guidance (sim/guide.h): plans that are changed stay plans, and what is rare is found again.
#include "sim/guide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/catalog.h"
#include "sim/plan_budget.h"

namespace witan::sim::guide_test {
namespace {

Scenario everything() { return *builtinScenario("everything"); }

RunResult reaching(std::initializer_list<const char*> probes) {
  RunResult result;
  for (const char* probe : probes) result.probes[probe] = 1;
  return result;
}

std::string textOf(const Plan& plan) { return writePlan(plan); }

// But for the seed, which feeds the streams of chance.
std::string optionsOf(Plan plan) {
  plan.events.clear();
  plan.options.seed = 0;
  return writePlan(plan);
}

TEST(Guide, AChangedPlanIsOneThatMayBeDrawn) {
  const Scenario scenario = everything();
  std::size_t others = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Plan plan = *drawPlan(scenario, seed), other = *drawPlan(scenario, seed + 1);
    const Plan changed = changedPlan(plan, other, seed);
    others += textOf(changed) != textOf(plan);
    EXPECT_EQ(textOf(changedPlan(plan, other, seed)), textOf(changed)) << "seed " << seed;
    const auto again = readPlan(textOf(changed));
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.error().message;
    EXPECT_EQ(withinBudget(changed.options.cluster, changed.events, {}).size(), changed.events.size());
    EXPECT_TRUE(std::ranges::is_sorted(changed.events, {}, &Event::at));
    for (const Event& event : changed.events) {
      // One that is alone may come with a disk that goes back.
      if (event.kind != EventKind::isolate) {
        EXPECT_GT(eventInfo(event.kind).rate.in(plan.options), 0) << enumName(event.kind);
      }
      EXPECT_TRUE(checkWithinRun(event, changed.options).ok());
    }
  }
  EXPECT_GT(others, 50u);
}

TEST(Guide, GoesByTheRareOnesOnly) {
  Guide guide(everything(), 50);
  const auto guided = [&](std::uint64_t from) {
    std::size_t n = 0;
    for (std::uint64_t seed = from; seed < from + 100; ++seed) n += guide.guides(seed);
    return n;
  };
  EXPECT_EQ(guided(1), 0u) << "nothing is known yet";
  const Plan common = *drawPlan(everything(), 1), rare = *drawPlan(everything(), 2);
  for (int n = 0; n < 200; ++n) guide.learn(common, reaching({"common"}));
  EXPECT_EQ(guided(1), 0u) << "every run reaches it";
  guide.learn(rare, reaching({"common", "rare"}));
  const std::size_t some = guided(1);
  EXPECT_GT(some, 30u);
  EXPECT_LT(some, 70u);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Plan plan = *guide.planOf(seed);
    if (guide.guides(seed)) {
      EXPECT_EQ(optionsOf(plan), optionsOf(rare)) << "it comes from the rare one";
    } else {
      EXPECT_EQ(textOf(plan), textOf(*drawPlan(everything(), seed)));
    }
  }
}

TEST(Guide, TheSameResultsGiveTheSamePlans) {
  Guide one(everything(), 80), two(everything(), 80);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan = *drawPlan(everything(), seed);
    for (Guide* guide : {&one, &two}) guide->learn(plan, reaching({"common", seed % 7 == 0 ? "rare" : "common"}));
  }
  for (std::uint64_t seed = 21; seed <= 60; ++seed) EXPECT_EQ(textOf(*one.planOf(seed)), textOf(*two.planOf(seed)));
}

}  // namespace
}  // namespace witan::sim::guide_test
