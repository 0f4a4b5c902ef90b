// F3: one run, planned differently on devices that were cut off. The plan with the smallest dot survives everywhere,
// what only the others did is undone, under the same ids on every device.
#include <gtest/gtest.h>

#include "tests/saga/stories.h"

namespace witan::saga::test {
namespace {

TEST(Plans, F3_TwoCutOffDevicesEndWithOneSurvivingEffectSet) { EXPECT_EQ(twoPlansForOneRun(), ""); }

// Both notice at the same time and undo before they hear of each other: two records, one mutation, no conflict.
TEST(Plans, F3_BothUndoAtOnceAndItIsOneMutation) {
  Pair pair;
  pair.onA->write("e", "\"before\"");
  replication::test::sync(pair.a, pair.b);
  pair.onA->plan("t", {action("put", "f", "\"of a\"")});
  const PlanBody lost = pair.onB->plan("t", {action("put", "e", "\"of b\""), action("put", "new", "1")});
  ASSERT_TRUE(pair.onA->run() && pair.onB->run());
  pair.meet();  // each by itself after the exchange
  const OperationId compensation = compensationOperationId(intentsOf(lost)[0].id());
  EXPECT_EQ(pair.onA->recordsIn(DatabaseName::journal, compensation), 1u);
  EXPECT_EQ(pair.onB->recordsIn(DatabaseName::journal, compensation), 1u);
  pair.meet();
  for (Host* host : {pair.onA.get(), pair.onB.get()}) {
    EXPECT_EQ(host->recordsIn(DatabaseName::journal, compensation), 2u);
    EXPECT_EQ(host->says("e"), "\"before\"");
    EXPECT_EQ(host->says("new"), "-");
    EXPECT_EQ(host->engine.counters().compensations, 2u);
  }
  pair.meet();
  EXPECT_EQ(pair.onA->engine.counters().compensations, 2u) << "once on each device, however often they meet";
  replication::test::expectEqual(pair.a, pair.b);
  pair.onA->write("e", "\"later\"");
  EXPECT_EQ(pair.onA->says("e"), "\"later\"");
}

// What had not been carried out when the other plan arrived never is.
TEST(Plans, F3_WhatIsNotYetDoneIsWithdrawn) {
  Pair pair;
  pair.onA->plan("t", {action("put", "e", "\"of a\"")});
  ASSERT_TRUE(pair.onA->run());
  const PlanBody lost = pair.onB->plan("t", {action("put", "f", "\"of b\"")});
  pair.meet();
  ASSERT_EQ(pair.onB->ended.size(), 1u);
  EXPECT_EQ(pair.onB->ended[0].status, SagaStatus::denied);
  EXPECT_EQ(pair.onB->says("f"), "-");
  EXPECT_EQ(pair.onB->engine.counters().withdrawn, 1u);
  EXPECT_EQ(pair.onB->recordsIn(DatabaseName::agents, intentsOf(lost)[0].id()), 0u);
  EXPECT_EQ(pair.onB->recordsIn(DatabaseName::agents, compensationOperationId(intentsOf(lost)[0].id())), 0u);
}

// The other plan arrives while the effect is on its way to the disk: it ends, and is then undone.
TEST(Plans, F3_WhatIsUnderWayEndsAndIsUndone) {
  for (int rounds = 0; rounds < 4; ++rounds) {
    Pair pair;
    pair.onA->plan("t", {action("put", "e", "\"of a\"")});
    ASSERT_TRUE(pair.onA->run());
    pair.onB->plan("t", {action("put", "f", "\"of b\"")});
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(pair.onB->round());
    for (int i = 0; i < 3; ++i) pair.meet();
    for (Host* host : {pair.onA.get(), pair.onB.get()}) {
      EXPECT_EQ(host->says("f"), "-") << rounds;
      EXPECT_EQ(host->says("e"), "\"of a\"") << rounds;
      EXPECT_TRUE(host->aside.empty());
    }
    EXPECT_TRUE(pair.equal());
  }
}

// A call that may have been made is not withdrawn: when it answers, it is undone.
TEST(Plans, F3_ACallThatIsUnderWayIsUndoneWhenItEnds) {
  Pair pair;
  pair.onA->plan("t", {action("put", "e", "1")});
  ASSERT_TRUE(pair.onA->run());
  const PlanBody lost = pair.onB->plan("t", {action("call", "x")});
  ASSERT_TRUE(pair.b.replica().flush().ok());
  pair.onB->engine.agentsDurable(pair.onB->now);  // called, not answered
  ASSERT_EQ(pair.world.calls.size(), 1u);
  for (int i = 0; i < 2; ++i) pair.meet();
  EXPECT_TRUE(pair.world.calls.contains(compensationOperationId(intentsOf(lost)[0].id()).value));
}

TEST(Plans, F3_WhatCannotBeUndoneIsAConflictForAPerson) {
  Pair pair;
  pair.onA->plan("t", {action("put", "e", "1")});
  const PlanBody lost = pair.onB->plan("t", {action("propose", "x")});
  ASSERT_TRUE(pair.onA->run() && pair.onB->run());
  for (int i = 0; i < 3; ++i) pair.meet();
  for (Device* device : {&pair.a, &pair.b}) {
    const auto incidents = *device->replica().incidents();
    ASSERT_EQ(incidents.size(), 1u) << "once, however often they meet";
    EXPECT_EQ(incidents[0].kind, "cannotUndo");
    EXPECT_NE(incidents[0].what.find(intentsOf(lost)[0].id().hex()), std::string::npos);
  }
}

// A person edited the loser's entry before the plans met.
TEST(Plans, F3_WhatAPersonEditedSinceIsNotOverwritten) {
  Pair pair;
  pair.onA->plan("t", {action("put", "e", "1")});
  pair.onB->plan("t", {action("put", "f", "\"of b\"")});
  ASSERT_TRUE(pair.onA->run() && pair.onB->run());
  pair.onB->write("f", "\"a person's\"");
  for (int i = 0; i < 3; ++i) pair.meet();
  for (Host* host : {pair.onA.get(), pair.onB.get()}) {
    EXPECT_EQ(host->says("f"), "\"a person's\"");
    EXPECT_EQ(host->aside.size(), 1u);
  }
}

// Two operations of the losing plan on one entity are undone from the end.
TEST(Plans, F3_OperationsThatStandOnOneAnotherAreUndoneFromTheEnd) {
  Pair pair;
  pair.onB->write("f", "0");
  pair.onA->plan("t", {action("put", "e", "1")});
  pair.onB->plan("t", {action("count", "f"), action("count", "f"), action("count", "f")});
  ASSERT_TRUE(pair.onA->run() && pair.onB->run());
  EXPECT_EQ(pair.onB->says("f"), "3");
  for (int i = 0; i < 3; ++i) pair.meet();
  for (Host* host : {pair.onA.get(), pair.onB.get()}) {
    EXPECT_EQ(host->says("f"), "0");
    EXPECT_TRUE(host->aside.empty());
  }
}

// b's plan loses against c's, then a's plan, which has the same operation as b's, turns up and wins over both: what was
// undone is wanted again.
TEST(Plans, F3_WhatWasUndoneIsRedoneWhenAPlanWithItWins) {
  Device a("a"), b("b"), c("c");
  World world;
  Host onA(a.replica(), world), onB(b.replica(), world), onC(c.replica(), world);
  const auto meet = [](Device& one, Host& first, Device& two, Host& second) {
    for (int i = 0; i < 3; ++i) {
      replication::test::sync(one, two);
      for (Host* host : {&first, &second}) {
        ASSERT_TRUE(host->engine.reconcileAll(host->now).ok());
        ASSERT_TRUE(host->run());
      }
    }
  };
  onB.plan("t", {action("put", "e", "\"of b\"")});
  onC.plan("t", {action("put", "f", "\"of a and c\"")});
  ASSERT_TRUE(onB.run() && onC.run());
  meet(b, onB, c, onC);
  EXPECT_EQ(onC.says("f"), "-");
  EXPECT_EQ(onC.says("e"), "\"of b\"");
  onA.plan("t", {action("put", "f", "\"of a and c\"")});
  meet(a, onA, b, onB);
  meet(b, onB, c, onC);
  meet(a, onA, b, onB);
  for (Host* host : {&onA, &onB, &onC}) {
    EXPECT_EQ(host->says("f"), "\"of a and c\"");
    EXPECT_EQ(host->says("e"), "-");
    EXPECT_TRUE(host->aside.empty());
  }
}

// The crash comes after the plans have met and before what follows is durable.
TEST(Plans, F3_ACrashWhileUndoingChangesNothing) {
  for (std::uint64_t n = 0; n < 14; ++n)
    for (const bool agents : {false, true}) {
      Pair pair;
      pair.onB->write("f", "0");
      pair.onA->plan("t", {action("put", "e", "1")});
      pair.onB->plan("t", {action("count", "f"), action("call", "x")});
      ASSERT_TRUE(pair.onA->run() && pair.onB->run());
      replication::test::sync(pair.a, pair.b);
      (agents ? pair.b.agentStore() : pair.b.journalStore()).crashAt(n);
      ASSERT_TRUE(pair.onB->engine.reconcileAll(pair.onB->now).ok());
      if (!pair.onB->run()) {
        pair.onB.reset();
        pair.b.crash();
        pair.onB = std::make_unique<Host>(pair.b.replica(), pair.world);
        ASSERT_TRUE(pair.onB->engine.load(pair.onB->now).ok());
      } else {
        pair.b.journalStore().reopen();
        pair.b.agentStore().reopen();
      }
      for (int i = 0; i < 3; ++i) pair.meet();
      EXPECT_EQ(pair.onB->says("f"), "0") << n;
      EXPECT_TRUE(pair.onB->aside.empty());
      EXPECT_TRUE(pair.equal());
      EXPECT_EQ(pair.world.calls.size(), 2u);
    }
}

}  // namespace
}  // namespace witan::saga::test
