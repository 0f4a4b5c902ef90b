// Shrinking, against small worlds whose failures are known.
#include "sim/shrink.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace witan::sim::shrink_test {
namespace {

RunResult failing(std::string checker, std::string reason, Micros at) {
  RunResult result;
  result.failure = Failure{std::move(checker), std::move(reason), at};
  return result;
}

// Fails once every one of `needed` (values of seed) has happened.
RunResult needsAll(const Plan& plan, const std::set<std::uint64_t>& needed) {
  std::set<std::uint64_t> left = needed;
  for (const Event& e : plan.events) {
    left.erase(e.seed);
    if (left.empty()) return failing("fencing", "two owners", e.at);
  }
  return {};
}

Plan numbered(std::size_t events) {
  Plan plan;
  for (std::size_t i = 0; i < events; ++i)
    plan.events.push_back({.at = static_cast<Micros>(i * 1'000),
                           .kind = i % 3 == 0 ? EventKind::crash : EventKind::propose,
                           .n = i,
                           .seed = i + 1});
  return plan;
}

void expectOneMinimal(const Shrunk& shrunk, const PlanRunner& run) {
  const RunResult whole = run(shrunk.plan);
  ASSERT_TRUE(whole.failure);
  EXPECT_EQ(whole.failure->checker, shrunk.failure.checker);
  EXPECT_EQ(whole.failure->reason, shrunk.failure.reason);
  for (std::size_t i = 0; i < shrunk.plan.events.size(); ++i) {
    Plan without = shrunk.plan;
    without.events.erase(without.events.begin() + static_cast<std::ptrdiff_t>(i));
    const RunResult result = run(without);
    EXPECT_FALSE(result.failure && result.failure->checker == shrunk.failure.checker) << i;
  }
}

// Of a broken variant: what fails without it too is another failure. And plans stay ones that can be simulated.
TEST(Shrink, TakesNothingThatFailsInTheSoundProgram) {
  const PlanRunner run = [](const Plan& plan) {
    EXPECT_TRUE(checkOptions(plan.options).ok());
    EXPECT_LE(plan.options.cluster.ledgerReplicas, plan.options.cluster.devices);
    return needsAll(plan, {3});
  };
  ShrinkLimits limits;
  limits.sound = [](const Plan& plan) {
    return plan.events.size() < 5 ? failing("fencing", "anyway", 1) : RunResult{};
  };
  const auto shrunk = shrink(numbered(100), run, limits);
  ASSERT_TRUE(shrunk.ok());
  EXPECT_EQ(shrunk->plan.events.size(), 5U);
  EXPECT_EQ(shrunk->plan.options.cluster.devices, 1);
}

TEST(Shrink, FindsTheEventsThatMatter) {
  const PlanRunner run = [](const Plan& plan) { return needsAll(plan, {3, 40, 41, 777}); };
  const auto shrunk = shrink(numbered(1'000), run);
  ASSERT_TRUE(shrunk.ok());
  EXPECT_TRUE(shrunk->minimal);
  EXPECT_EQ(shrunk->plan.events.size(), 4U);
  EXPECT_LT(shrunk->runs, 400U);
  expectOneMinimal(*shrunk, run);
}

TEST(Shrink, APlanThatPassesIsRefused) {
  EXPECT_FALSE(shrink(numbered(3), [](const Plan&) { return RunResult{}; }).ok());
}

TEST(Shrink, AFailureWithoutEventsShrinksToNone) {
  const auto shrunk = shrink(numbered(50), [](const Plan&) { return failing("memory", "too much", 0); });
  ASSERT_TRUE(shrunk.ok());
  EXPECT_TRUE(shrunk->plan.events.empty());
}

TEST(Shrink, DoesNotSlipIntoAnotherFailure) {
  // Without event 7 another checker fires: fewer events, but not this failure.
  const PlanRunner run = [](const Plan& plan) {
    const bool seven = std::any_of(plan.events.begin(), plan.events.end(), [](const Event& e) { return e.seed == 7; });
    return seven ? needsAll(plan, {7, 9}) : failing("liveness", "something else", 5);
  };
  const auto shrunk = shrink(numbered(60), run);
  ASSERT_TRUE(shrunk.ok());
  EXPECT_EQ(shrunk->failure.checker, "fencing");
  EXPECT_EQ(shrunk->plan.events.size(), 2U);
  expectOneMinimal(*shrunk, run);
}

TEST(Shrink, SimplifiesValues) {
  Plan plan = numbered(20);
  plan.options.cluster = {.devices = 7, .agents = 90, .domains = "udt budget", .store = StoreKind::rocksdb};
  plan.options.network.lossPerMillion = 50'000;
  plan.options.network.delayMeanMicros = 80'000;
  plan.events[10].lasts = 90'000'000;
  plan.events[10].n = 1'000'000;
  // Needs a crash of at least 5 s on a cluster of at least three, and some delay.
  const PlanRunner run = [](const Plan& p) {
    for (const Event& e : p.events)
      if (e.lasts >= 5'000'000 && p.options.cluster.devices >= 3 && p.options.network.delayMeanMicros >= 1'000)
        return failing("convergence", "a differs from b", e.at);
    return RunResult{};
  };
  const auto shrunk = shrink(plan, run);
  ASSERT_TRUE(shrunk.ok());
  ASSERT_EQ(shrunk->plan.events.size(), 1U);
  const Event& e = shrunk->plan.events[0];
  EXPECT_GE(e.lasts, 5'000'000);
  EXPECT_LT(e.lasts, 5'600'000);
  EXPECT_EQ(e.n, 0U);
  EXPECT_EQ(e.seed, 0U);
  EXPECT_EQ(e.at, 0);
  const Options& o = shrunk->plan.options;
  EXPECT_EQ(o.cluster.devices, 3);
  EXPECT_EQ(o.cluster.agents, 1);
  EXPECT_EQ(o.cluster.domains, "udt");
  EXPECT_EQ(o.cluster.store, StoreKind::memory);
  EXPECT_EQ(o.network.lossPerMillion, 0);
  EXPECT_LT(o.network.delayMeanMicros, 1'100);
  EXPECT_LT(o.time.seconds, 10);
}

TEST(Shrink, StopsAtItsLimits) {
  const PlanRunner run = [](const Plan& plan) { return needsAll(plan, {3, 40, 41, 777}); };
  const auto few = shrink(numbered(1'000), run, {.runs = 20});
  ASSERT_TRUE(few.ok());
  EXPECT_FALSE(few->minimal);
  EXPECT_LE(few->runs, 20U);
  ASSERT_TRUE(run(few->plan).failure);
  std::uint64_t asked = 0;
  const auto stopped = shrink(numbered(1'000), run, {.goOn = [&](const ShrinkProgress& p) {
                                EXPECT_FALSE(p.doing.empty());
                                return ++asked < 30;
                              }});
  ASSERT_TRUE(stopped.ok());
  EXPECT_FALSE(stopped->minimal);
  EXPECT_EQ(asked, 30U);
}

// Failures that are neither monotone nor tidy: any set that holds all of one of a few groups and not more than one of
// some spoilers.
RC_GTEST_PROP(Shrink, IsOneMinimalForFailuresOfAnyShape, ()) {
  const auto groups = *rc::gen::container<std::vector<std::set<std::uint64_t>>>(
      3, rc::gen::container<std::set<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 61)));
  const auto spoilers = *rc::gen::container<std::set<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 61));
  const PlanRunner run = [&](const Plan& plan) {
    std::size_t spoiled = 0;
    for (const Event& e : plan.events) spoiled += spoilers.contains(e.seed) ? 1 : 0;
    if (spoiled % 3 == 1) return RunResult{};
    for (const auto& group : groups)
      if (const RunResult result = needsAll(plan, group); result.failure || group.empty())
        return failing("fencing", "x", 100);
    return RunResult{};
  };
  const auto shrunk = shrink(numbered(60), run);
  RC_PRE(shrunk.ok());
  RC_ASSERT(shrunk->minimal);
  expectOneMinimal(*shrunk, run);
}

}  // namespace
}  // namespace witan::sim::shrink_test
