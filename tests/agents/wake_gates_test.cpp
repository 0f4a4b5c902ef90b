// What keeps wakes from an agent, and what goes on all the same.
#include <gmock/gmock.h>

#include "agents/wake/host_choice.h"
#include "agents/wake/wake_job.h"
#include "replication/records/record_write.h"
#include "tests/agents/wake_world.h"

namespace witan::agents::test::wake_gates_test {
namespace {

using testing::IsEmpty;

const AgentSpec kLab = agentFor("lab", "lab-result");
const AgentSpec kClinic = agentFor("clinic", "visit");
const std::vector<const AgentSpec*> kBoth{&kLab, &kClinic};

// 003, 0.4: "checks lifecycle/sleep gates"; 6.1: the terminal statuses.
TEST(Gates, ASleepingOrDestroyedAgentSkipsWithATerminalStatus) {
  Host a("a", kBoth);
  a.state("lab", [](auto& s) { s.schedule.sleepUntil = kWall + 50; });
  a.state("clinic", [](auto& s) { s.lifecycle = replication::Lifecycle::destroyed; });
  a.edit("e1", "lab-result");
  a.edit("v1", "visit");
  ASSERT_TRUE(a.settle(at(1)));
  EXPECT_EQ(a.starts(), 0u);
  EXPECT_THAT(a.statuses(), testing::UnorderedElementsAre(WakeStatus::skippedSleeping, WakeStatus::skippedDestroyed));
  a.edit("e2", "lab-result");
  ASSERT_TRUE(a.settle(at(50)));
  EXPECT_EQ(a.starts(), 1u);
  a.state("lab", [](auto& s) { s.lifecycle = replication::Lifecycle::dormant; });
  a.edit("e3", "lab-result");
  ASSERT_TRUE(a.settle(at(60)));
  EXPECT_EQ(a.starts(), 1u);
  EXPECT_THAT(checkAtRest(a, kBoth), IsEmpty());
  EXPECT_EQ(a.device().view("clinic").lifecycle, replication::Lifecycle::destroyed);
}

// Its agent is paused amid another run, and a wake comes that another device has planned: that goes on, in its turn.
TEST(Gates, APlannedWakeBehindTheRunOfAPausedAgentGoesOnAfterIt) {
  Host a("a", kBoth);
  a.edit("e1", "lab-result");
  ASSERT_TRUE(a.round(at(1)));
  ASSERT_EQ(a.running().size(), 1u);
  a.state("lab", [](auto& s) { s.lifecycle = replication::Lifecycle::dormant; });
  ASSERT_TRUE(a.round(at(2)));
  const RunKey key = userJob("lab", "session", "1", "hello")->key();
  const auto plan = replication::recordWrite(key.hex(), replication::PlanBody{key.value, "lab", {}});
  ASSERT_TRUE(plan.ok() && a.device().replica().commit(DatabaseName::agents, "main", {&*plan, 1}).ok());
  ASSERT_TRUE(a.center().userTurn("lab", "session", "1", "hello", at(3)).ok());
  ASSERT_TRUE(a.round(at(3)));
  EXPECT_EQ(a.running().size(), 1u) << "it waits";
  ASSERT_TRUE(a.endAll(at(4)));
  ASSERT_TRUE(a.round(at(4)));
  ASSERT_EQ(a.running().size(), 1u);
  EXPECT_EQ(a.running()[0].key(), key);
}

// One has entered something and runs the wake by it, as the first by rank; the other knows of both.
struct TwoHosts {
  explicit TwoHosts(const WakeOptions& options = {})
      : a("a", {&kLab}, options), b("b", {&kLab}, options), first(firstIsA() ? a : b), second(firstIsA() ? b : a) {
    meet(a, b, at(1));
    first.edit("e1", "lab-result");
    replication::test::sync(a.device(), b.device());
    EXPECT_TRUE(first.round(at(2)) && second.round(at(2)));
    EXPECT_EQ(first.running().size(), 1u);
  }
  static bool firstIsA() { return rankedHosts("lab", std::vector<std::string>{"a", "b"})[0] == "a"; }
  Host a, b;
  Host &first, &second;
};

// Another device has it, and says again and again why it waits there: nobody else begins it. Once it says nothing more,
// it is taken over.
TEST(Gates, ARunThatWaitsOnAnotherDeviceIsNotTakenForAbandoned) {
  WakeOptions options;
  options.abandonMs = 10'000;
  TwoHosts two(options);
  auto& [a, b, first, second] = two;
  const RunKey run = first.running().at(0).key();
  for (std::int64_t ms = 5'000; ms <= 40'000; ms += 5'000) {
    ASSERT_TRUE(first.center().postpone(run, 100'000, concat("nothing is left at ", ms), at(ms)).ok());
    first.device().flush();
    replication::test::sync(a.device(), b.device());
    ASSERT_TRUE(second.round(at(ms)));
    EXPECT_TRUE(second.running().empty()) << ms;
  }
  ASSERT_TRUE(second.round(at(51'000)));
  EXPECT_EQ(second.running().size(), 1u);
}

// A wake that another device has put off does not keep those behind it from running here: two devices might each wait
// for what the other has put off. When that device leaves, it is the next one again.
TEST(Gates, WhatAnotherDeviceHasPutOffIsInNobodysWay) {
  TwoHosts two;
  auto& [a, b, first, second] = two;
  const RunKey putOff = first.running().at(0).key();
  ASSERT_TRUE(first.center().postpone(putOff, 40'000'000, "its budget is spent", at(3)).ok());
  first.device().flush();
  replication::test::sync(a.device(), b.device());
  second.edit("e2", "lab-result");
  ASSERT_TRUE(second.round(at(10)));
  ASSERT_TRUE(second.round(at(20'000)));
  ASSERT_EQ(second.running().size(), 1u);
  EXPECT_NE(second.running()[0].key(), putOff);
  ASSERT_TRUE(second.endAll(at(20'001)));
  ASSERT_TRUE(second.round(at(20'002)));
  EXPECT_TRUE(second.running().empty()) << "it waits there";
  second.sees({"a", "b"}, {}, at(30'000));
  ASSERT_TRUE(second.round(at(30'001)));
  ASSERT_TRUE(second.round(at(50'000)));
  ASSERT_EQ(second.running().size(), 1u);
  EXPECT_EQ(second.running()[0].key(), putOff);
}

}  // namespace
}  // namespace witan::agents::test::wake_gates_test
