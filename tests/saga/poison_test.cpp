// Operations that can never succeed: put aside for a person in bounded time, and never in the way of the others.
#include <gtest/gtest.h>

#include "tests/replication/cluster.h"
#include "tests/saga/host.h"

namespace witan::saga::test::poison_test {
namespace {

using replication::test::Device;

void beginPoison(Host& host, int count) {
  for (int at = 0; at < count; at += 1000) {
    std::vector<PlanAction> actions;
    for (int i = at; i < std::min(count, at + 1000); ++i) actions.push_back(action("poison", "p" + std::to_string(i)));
    host.plan("poison-" + std::to_string(at), std::move(actions));
  }
}

// Counted in rounds and in attempts, not in time: a fresh saga takes two rounds whatever else is due.
TEST(Poison, TenThousandPoisonSagasDoNotSlowTheHealthyOnes) {
  Device device("a");
  World world;
  SagaOptions options;
  options.maxAttempts = 5;
  Host host(device.replica(), world, options);
  beginPoison(host, 10'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(host.round());
  ASSERT_EQ(host.engine.open(), 10'000u);
  int healthy = 0;
  for (int wave = 0; wave < 40; ++wave) {
    host.advance(500);  // hundreds of attempts are due in every round
    const auto retriesBefore = host.engine.counters().retries;
    host.plan("t" + std::to_string(wave), {action("count", "e")});
    const std::size_t before = host.engine.counters().completed;
    ASSERT_TRUE(host.round());
    ASSERT_TRUE(host.round());
    ASSERT_EQ(host.engine.counters().completed, before + 1) << "wave " << wave;
    EXPECT_LE(host.engine.counters().retries - retriesBefore, 2 * options.retriesPerRound);
    ++healthy;
  }
  EXPECT_EQ(host.says("e"), std::to_string(healthy));
  EXPECT_GT(host.engine.counters().retries, 5'000u) << "poison was tried all the while";
}

TEST(Poison, EveryOneIsPutAsideAfterTheLastAttemptAndStaysThere) {
  Device device("a");
  World world;
  SagaOptions options;
  options.maxAttempts = 4;
  Host host(device.replica(), world, options);
  beginPoison(host, 300);
  ASSERT_TRUE(host.run());
  EXPECT_EQ(host.engine.open(), 0u);
  EXPECT_EQ(host.aside.size(), 300u);
  EXPECT_EQ(host.engine.counters().retries, 300u * 3);
  for (const SagaRow& row : host.aside) {
    EXPECT_EQ(row.attempts, 4u);
    EXPECT_EQ(row.lastError, "it never works");
    EXPECT_EQ(row.status, SagaStatus::needsAttention);
  }
  Host next(device.replica(), world, options);
  ASSERT_TRUE(next.engine.load(next.now).ok());
  EXPECT_EQ(next.engine.counters().recovered, 0u);
  std::size_t held = 0;
  ASSERT_TRUE(next.engine.rows().visitHeld([&](SagaRow&&) { ++held; }).ok());
  EXPECT_EQ(held, 300u);
}

TEST(Poison, APersonTriesAgain) {
  Device device("a");
  World world;
  SagaOptions options;
  options.maxAttempts = 3;
  Host host(device.replica(), world, options);
  world.reachable = false;
  const PlanBody plan = host.plan("t", {action("call", "x")});
  ASSERT_TRUE(host.run());
  ASSERT_EQ(host.aside.size(), 1u);
  const OperationId id = intentsOf(plan)[0].id();
  // The run asks again: it stays aside.
  ASSERT_TRUE(host.engine.begin(intentsOf(plan), host.now).ok());
  EXPECT_EQ(host.aside.size(), 2u);
  EXPECT_EQ(host.engine.open(), 0u);
  world.reachable = true;
  ASSERT_TRUE(host.engine.retry(id, host.now).ok());
  EXPECT_FALSE(host.engine.retry(id, host.now).ok()) << "it is under way";
  ASSERT_TRUE(host.run());
  ASSERT_EQ(host.ended.size(), 1u);
  EXPECT_EQ(host.ended[0].status, SagaStatus::completed);
  const Status again = host.engine.retry(id, host.now);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("has ended (completed)"), std::string::npos);
}

TEST(Poison, APersonGivesUp) {
  Device device("a");
  World world;
  SagaOptions options;
  options.maxAttempts = 2;
  Host host(device.replica(), world, options);
  const PlanBody plan = host.plan("t", {action("poison", "e")});
  ASSERT_TRUE(host.run());
  const OperationId id = intentsOf(plan)[0].id();
  ASSERT_TRUE(host.engine.compensate(id, host.now).ok());
  ASSERT_TRUE(host.run());
  ASSERT_EQ(host.ended.size(), 1u);
  EXPECT_EQ(host.ended[0].status, SagaStatus::failed);
  EXPECT_EQ(host.recordsIn(DatabaseName::journal, id), 0u);
  EXPECT_EQ(host.recordsIn(DatabaseName::agents, id), 1u);
}

// The same at every attempt, another for every operation, and at most the whole and at least half of the delay.
TEST(Poison, BackoffGrowsWithJitterFromTheOperationAndTheAttempt) {
  const auto delays = [] {
    Device device("a");
    World world;
    Host host(device.replica(), world);
    const PlanBody plan = host.plan("t", {action("poison", "e"), action("poison", "f")});
    std::vector<std::int64_t> out;
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(host.round());
    for (int attempt = 1; attempt < 6; ++attempt) {
      for (const Intent& intent : intentsOf(plan)) {
        const SagaRow* row = host.engine.find(intent.id());
        EXPECT_EQ(row->attempts, static_cast<std::uint32_t>(attempt));
        const std::int64_t delay = row->nextAttemptAtMs - host.now.wallMs();
        const std::int64_t whole = 1'000 << (attempt - 1);
        EXPECT_LE(delay, whole);
        out.push_back(row->nextAttemptAtMs);
      }
      host.advance(1'000 << (attempt - 1));
      EXPECT_TRUE(host.round());
    }
    return out;
  };
  const auto once = delays();
  EXPECT_EQ(once, delays());
  EXPECT_NE(once[0], once[1]);
}

// Rows say when by the wall clock, which may jump between two starts.
TEST(Poison, AWallClockThatJumpedHoldsNothingForEver) {
  Device device("a");
  World world;
  world.reachable = false;
  auto host = std::make_unique<Host>(device.replica(), world);
  host->plan("t", {action("call", "x")});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(host->round());
  host.reset();
  device.crash();
  world.reachable = true;
  host = std::make_unique<Host>(device.replica(), world);
  host->now.wall.micros -= std::int64_t{365} * 24 * 3600 * 1'000'000;
  ASSERT_TRUE(host->engine.load(host->now).ok());
  EXPECT_LE(host->engine.nextTickMs(), SagaOptions{}.lastBackoffMs);
  ASSERT_TRUE(host->run());
  EXPECT_EQ(host->ended.size(), 1u);
}

TEST(Limits, MoreThanMayBeUnderWayIsRefusedAndTheOthersGoOn) {
  Device device("a");
  World world;
  Host host(device.replica(), world);
  PlanBody plan{runOf("a").value, "agent-1", {action("count", "e"), action("count", "f")}};
  const std::vector<Intent> two = intentsOf(plan);
  ASSERT_TRUE(host.engine.begin({two.data(), 1}, host.now).ok());
  const std::vector<Intent> rest(kMaxOpenSagas, two[1]);
  const Status refused = host.engine.begin(rest, host.now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(host.engine.open(), 1u);
  ASSERT_TRUE(host.engine.begin({rest.data(), 1}, host.now).ok());
  ASSERT_TRUE(host.run());
  EXPECT_EQ(host.says("e") + host.says("f"), "11");
}

}  // namespace
}  // namespace witan::saga::test::poison_test
