// Timers of the schedule that all devices share, and what may wake an agent at all (seed 003, 3.5).
#include <gmock/gmock.h>

#include "agents/wake/wake_job.h"
#include "tests/agents/wake_world.h"

namespace witan::agents::test::shared_timers_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A device whose agent has this timer, at a moment between two multiples.
constexpr std::int64_t kDayMs = 86'400'000, kHundredDays = 100 * kDayMs;
const std::int64_t kBetween = owedAt(kHundredDays, kWall) + kHundredDays / 2;

void forgetRuns(Host& host) {
  for (const KnownRun& run : host.runs()) {
    const replication::Write gone{replication::Kind::wakeRun, run.key.hex(), {}, true};
    ASSERT_TRUE(host.device().replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
  }
  host.device().flush();
}

// Retention removes records of runs, and a long timer outlives them.
TEST(SharedTimers, WhatHasFiredStaysFiredWhenItsRunIsForgottenAlsoOnADeviceThatJoins) {
  const AgentSpec spec = timed(kHundredDays);
  Host a("a", {&spec});
  ASSERT_TRUE(a.settle(at(1, kBetween)));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_EQ(a.device().view("timed").schedule.timers.at("tick").firedThrough,
            static_cast<std::uint64_t>(kBetween - kHundredDays / 2));
  forgetRuns(a);
  a.crash(at(2, kBetween + kDayMs));
  ASSERT_TRUE(a.settle(at(10, kBetween + kDayMs)));
  EXPECT_EQ(a.starts(), 1u) << "the restarted device fires it again";
  Host b("b", {&spec});
  replication::test::sync(a.device(), b.device());
  ASSERT_TRUE(b.settle(at(20, kBetween + 2 * kDayMs)));
  EXPECT_EQ(b.starts(), 0u) << "the new device fires it again";
  ASSERT_TRUE(b.settle(at(30, kBetween + kHundredDays)));
  EXPECT_EQ(b.starts(), 1u) << "the next multiple fires";
}

TEST(SharedTimers, TheNextDeviceFiresItWhenTheFirstIsLostAndOnce) {
  const AgentSpec spec = timed(kHundredDays);
  Host a("a", {&spec}), b("b", {&spec});
  meet(a, b, at(0, kBetween));
  ASSERT_TRUE(a.round(at(1, kBetween)) && b.round(at(1, kBetween)));
  ASSERT_EQ(a.starts() + b.starts(), 1u) << "one of them fires it";
  Host& lost = a.starts() == 1 ? a : b;
  Host& left = &lost == &a ? b : a;
  left.sees({"a", "b"}, {}, at(2, kBetween));
  for (std::int64_t ms = 3; ms < 60'000; ms += 1'000) {
    ASSERT_TRUE(left.round(at(ms, kBetween + ms)));
    ASSERT_TRUE(left.endAll(at(ms, kBetween + ms)));
  }
  EXPECT_EQ(left.starts(), 1u) << "it survives the loss";
  // The first one comes back without what it had begun.
  lost.crash(at(60'000, kBetween + 60'000));
  replication::test::sync(a.device(), b.device());
  lost.sees({"a", "b"}, {left.name()}, at(60'001, kBetween + 60'001));
  ASSERT_TRUE(lost.settle(at(60'002, kBetween + 60'002)));
  EXPECT_EQ(lost.starts(), 1u) << "only the start that was lost";
  forgetRuns(left);
  replication::test::sync(a.device(), b.device());
  for (Host* host : {&a, &b}) {
    const std::size_t before = host->starts();
    host->crash(at(70'000, kBetween + 70'000));
    ASSERT_TRUE(host->settle(at(90'000, kBetween + 90'000)));
    EXPECT_EQ(host->starts(), before) << host->name();
  }
}

TEST(SharedTimers, AnIntervalThatIsSetCountsOnAllDevicesAndOffIsOff) {
  const AgentSpec spec = timed(kHundredDays);
  Host a("a", {&spec}), b("b", {&spec});
  const auto set = [&](std::uint64_t everyMs, std::uint64_t version) {
    a.state("timed", [&](auto& s) {
      s.schedule.timers["tick"].everyMs = everyMs, s.schedule.timers["tick"].version = version;
      s.schedule.timers["tick"].host = "a";
    });
    replication::test::sync(a.device(), b.device());
  };
  set(10'000, 1);
  ASSERT_TRUE(b.settle(at(1, kBetween)) && b.settle(at(10'001, kBetween + 10'000)));
  EXPECT_EQ(b.starts(), 2u);
  EXPECT_EQ(b.center().nextMs(at(10'001, kBetween + 10'000)), 20'001);
  set(0, 2);
  ASSERT_TRUE(b.settle(at(50'000, kBetween + 50'000)));
  EXPECT_EQ(b.starts(), 2u) << "it is off";
  EXPECT_FALSE(b.center().nextMs(at(50'000, kBetween + 50'000)).has_value());
}

// --- who may wake it (seed 003, 3.5)

TEST(Eligibility, OfWhoseChangesWakeItTheSubscriptionSays) {
  AgentSpec people = agentFor("people", "note"), runs = agentFor("runs", "note"), both = agentFor("both", "note");
  people.subscriptions[0].authors = Authors::people;
  runs.subscriptions[0].authors = Authors::agents;
  const std::vector<const AgentSpec*> specs{&people, &runs, &both};
  Host a("a", specs);
  const auto woken = [&] {
    std::vector<std::string> out;
    for (const WakeJob& job : a.running()) out.push_back(job.agentId);
    std::ranges::sort(out);
    return out;
  };
  a.edit("e1", "note");
  ASSERT_TRUE(a.round(at(1)));
  EXPECT_THAT(woken(), ElementsAre("both", "people"));
  ASSERT_TRUE(a.endAll(at(2)));
  a.edit("e2", "note", provenanceTokens({"somebody", 0}));
  ASSERT_TRUE(a.round(at(3)));
  EXPECT_THAT(woken(), ElementsAre("both", "runs"));
  ASSERT_TRUE(a.endAll(at(4)));
  const auto lost = wakesWithoutEnd(a.device().replica(), "main", specs);
  ASSERT_TRUE(lost.ok());
  EXPECT_THAT(*lost, IsEmpty());
}

TEST(Eligibility, AnInteractiveAgentIsWokenByPeopleOnly) {
  AgentSpec spec = timed(60'000);
  spec.subscriptions[0] = agentFor("x", "note").subscriptions[0];
  Host a("a", {&spec});
  a.state("timed", [](auto& s) { s.mode = replication::AgentMode::interactive; });
  a.edit("e1", "note");
  ASSERT_TRUE(a.settle(at(1)));
  EXPECT_EQ(a.starts(), 0u);
  EXPECT_THAT(a.statuses(), ElementsAre(WakeStatus::skippedSleeping, WakeStatus::skippedSleeping));
  ASSERT_TRUE(a.center().userTurn("timed", "s", "1", "hello", at(2)).ok());
  ASSERT_TRUE(a.settle(at(3)));
  EXPECT_EQ(a.starts(), 1u);
  a.state("timed", [](auto& s) { s.mode = replication::AgentMode::autonomous; });
  a.edit("e2", "note");
  ASSERT_TRUE(a.settle(at(4)));
  EXPECT_EQ(a.starts(), 2u);
}

}  // namespace
}  // namespace witan::agents::test::shared_timers_test
