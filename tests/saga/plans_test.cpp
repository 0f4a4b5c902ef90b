// F3: one run, planned differently on devices that were cut off. The plan with the smallest dot survives everywhere,
// what only the others did is undone, under the same ids on every device.
#include <gtest/gtest.h>

#include "tests/saga/stories.h"

namespace witan::saga::test::plans_test {
namespace {

TEST(Plans, F3_TwoCutOffDevicesEndWithOneSurvivingEffectSet) { EXPECT_EQ(twoPlansForOneRun(), ""); }

// Both notice at the same time and undo before they hear of each other: two records, one mutation, no conflict.
TEST(Plans, F3_BothUndoAtOnceAndItIsOneMutation) {
  TestCluster cluster(2);
  cluster.host(0).write("e", "\"before\"");
  cluster.sync(0, 1);
  cluster.host(0).plan("t", {action("put", "f", "\"of a\"")});
  const PlanBody lost = cluster.host(1).plan("t", {action("put", "e", "\"of b\""), action("put", "new", "1")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  cluster.meetAll();  // each by itself after the exchange
  const OperationId compensation = compensationOperationId(intentsOf(lost)[0].id());
  EXPECT_EQ(cluster.host(0).recordsIn(DatabaseName::journal, compensation), 1u);
  EXPECT_EQ(cluster.host(1).recordsIn(DatabaseName::journal, compensation), 1u);
  cluster.meetAll();
  for (Host* host : {&cluster.host(0), &cluster.host(1)}) {
    EXPECT_EQ(host->recordsIn(DatabaseName::journal, compensation), 2u);
    EXPECT_EQ(host->says("e"), "\"before\"");
    EXPECT_EQ(host->says("new"), "-");
    EXPECT_EQ(host->engine.counters().compensations, 2u);
  }
  cluster.meetAll();
  EXPECT_EQ(cluster.host(0).engine.counters().compensations, 2u) << "once on each device, however often they meet";
  replication::test::expectEqual(cluster.device(0), cluster.device(1));
  cluster.host(0).write("e", "\"later\"");
  EXPECT_EQ(cluster.host(0).says("e"), "\"later\"");
}

// What had not been carried out when the other plan arrived never is.
TEST(Plans, F3_WhatIsNotYetDoneIsWithdrawn) {
  TestCluster cluster(2);
  cluster.host(0).plan("t", {action("put", "e", "\"of a\"")});
  ASSERT_TRUE(cluster.host(0).run());
  const PlanBody lost = cluster.host(1).plan("t", {action("put", "f", "\"of b\"")});
  cluster.meetAll();
  ASSERT_EQ(cluster.host(1).ended.size(), 1u);
  EXPECT_EQ(cluster.host(1).ended[0].status, SagaStatus::denied);
  EXPECT_EQ(cluster.host(1).says("f"), "-");
  EXPECT_EQ(cluster.host(1).engine.counters().withdrawn, 1u);
  EXPECT_EQ(cluster.host(1).recordsIn(DatabaseName::agents, intentsOf(lost)[0].id()), 0u);
  EXPECT_EQ(cluster.host(1).recordsIn(DatabaseName::agents, compensationOperationId(intentsOf(lost)[0].id())), 0u);
}

// The other plan arrives while the effect is on its way to the disk: it ends, and is then undone.
TEST(Plans, F3_WhatIsUnderWayEndsAndIsUndone) {
  for (int rounds = 0; rounds < 4; ++rounds) {
    TestCluster cluster(2);
    cluster.host(0).plan("t", {action("put", "e", "\"of a\"")});
    ASSERT_TRUE(cluster.host(0).run());
    cluster.host(1).plan("t", {action("put", "f", "\"of b\"")});
    for (int i = 0; i < rounds; ++i) ASSERT_TRUE(cluster.host(1).round());
    for (int i = 0; i < 3; ++i) cluster.meetAll();
    for (Host* host : {&cluster.host(0), &cluster.host(1)}) {
      EXPECT_EQ(host->says("f"), "-") << rounds;
      EXPECT_EQ(host->says("e"), "\"of a\"") << rounds;
      EXPECT_TRUE(host->aside.empty());
    }
    EXPECT_TRUE(cluster.equal());
  }
}

// A call that may have been made is not withdrawn: when it answers, it is undone.
TEST(Plans, F3_ACallThatIsUnderWayIsUndoneWhenItEnds) {
  TestCluster cluster(2);
  cluster.host(0).plan("t", {action("put", "e", "1")});
  ASSERT_TRUE(cluster.host(0).run());
  const PlanBody lost = cluster.host(1).plan("t", {action("call", "x")});
  ASSERT_TRUE(cluster.device(1).replica().flush().ok());
  cluster.host(1).engine.agentsDurable(cluster.host(1).now);  // called, not answered
  ASSERT_EQ(cluster.world.calls.size(), 1u);
  for (int i = 0; i < 2; ++i) cluster.meetAll();
  EXPECT_TRUE(cluster.world.calls.contains(compensationOperationId(intentsOf(lost)[0].id()).value));
}

TEST(Plans, F3_WhatCannotBeUndoneIsAConflictForAPerson) {
  TestCluster cluster(2);
  cluster.host(0).plan("t", {action("put", "e", "1")});
  const PlanBody lost = cluster.host(1).plan("t", {action("propose", "x")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (Device* device : {&cluster.device(0), &cluster.device(1)}) {
    const auto incidents = *device->replica().incidents();
    ASSERT_EQ(incidents.size(), 1u) << "once, however often they meet";
    EXPECT_EQ(incidents[0].kind, "cannotUndo");
    EXPECT_NE(incidents[0].what.find(intentsOf(lost)[0].id().hex()), std::string::npos);
  }
}

// A person edited the loser's entry before the plans met.
TEST(Plans, F3_WhatAPersonEditedSinceIsNotOverwritten) {
  TestCluster cluster(2);
  cluster.host(0).plan("t", {action("put", "e", "1")});
  cluster.host(1).plan("t", {action("put", "f", "\"of b\"")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  cluster.host(1).write("f", "\"a person's\"");
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (Host* host : {&cluster.host(0), &cluster.host(1)}) {
    EXPECT_EQ(host->says("f"), "\"a person's\"");
    EXPECT_EQ(host->aside.size(), 1u);
  }
}

// What another run's operation found as the losing one had written it, and wanted so, stays when that is undone; it
// goes with the run that claims it.
TEST(Plans, F3_WhatAnotherOperationClaimsIsNotUndone) {
  for (const bool aWritesItToo : {false, true}) {
    TestCluster cluster(2);
    cluster.host(0).plan("t", {aWritesItToo ? put("e", "first") : put("brief", "x")});
    cluster.host(1).plan("t", {put("e", "both")});
    ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
    PlanBody last;
    for (const char* turn : {"u", "v"}) {
      last = cluster.host(1).plan(turn, {put("e", "both")});
      ASSERT_TRUE(cluster.host(1).run());
    }
    for (int i = 0; i < 4; ++i) cluster.meetAll();
    EXPECT_TRUE(cluster.equal());
    for (std::size_t i = 0; i < 2; ++i) {
      std::set<std::string> says;
      const JournalView view = *journalViewIn(cluster.device(i).journal(), "e");
      for (const Sibling& one : view.siblings) says.insert(one.body ? one.body->payload : "-");
      EXPECT_TRUE(says.contains("\"both\"")) << i;
      EXPECT_EQ(says.contains("\"first\""), aWritesItToo) << i;
      EXPECT_TRUE(cluster.host(i).aside.empty()) << cluster.host(i).aside[0].lastError;
    }
    if (aWritesItToo) continue;
    for (const char* turn : {"v", "u"}) {
      const OperationId claim = intentsOf({runOf(turn).value, last.agentId, last.actions})[0].id();
      ASSERT_TRUE(cluster.host(0).engine.compensate(claim, cluster.host(0).now).ok());
      ASSERT_TRUE(cluster.host(0).run());
    }
    for (int i = 0; i < 4; ++i) cluster.meetAll();
    EXPECT_EQ(cluster.host(0).says("e"), "-");
  }
}

// What a losing operation wrote over was another one's, and who wrote beside it had not seen that: it is not lost to
// their edit.
TEST(Plans, F3_WhatWasWrittenOverIsNotLostToAnEditBeside) {
  TestCluster cluster(2);
  cluster.host(1).plan("u", {put("e", "stands")});
  ASSERT_TRUE(cluster.host(1).run());
  cluster.host(1).plan("t", {put("e", "over it")});
  cluster.host(0).plan("t", {put("e", "beside it")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  for (int i = 0; i < 4; ++i) cluster.meetAll();
  EXPECT_TRUE(cluster.equal());
  EXPECT_TRUE(cluster.host(0).says("e").ends_with("(conflict)")) << cluster.host(0).says("e");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(cluster.host(i).aside.size(), 1u);
}

// The same where their edit was not the first one there: how many came before it says nothing of what they had seen.
TEST(Plans, F3_WhatWasWrittenOverIsNotLostToALaterEditBeside) {
  for (const bool byAPerson : {false, true}) {
    TestCluster cluster(2);
    cluster.host(0).plan("s", {put("e", "first")});
    ASSERT_TRUE(cluster.host(0).run());
    cluster.host(0).plan("t", {put("e", "beside it")});
    if (byAPerson)
      cluster.host(1).write("e", "\"stands\"");
    else
      cluster.host(1).plan("u", {put("e", "stands")});
    ASSERT_TRUE(cluster.host(1).run());
    cluster.host(1).plan("t", {put("e", "over it")});
    ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
    for (int i = 0; i < 4; ++i) cluster.meetAll();
    EXPECT_TRUE(cluster.equal());
    EXPECT_TRUE(cluster.host(0).says("e").ends_with("(conflict)")) << cluster.host(0).says("e");
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(cluster.host(i).aside.size(), 1u);
  }
}

// Who wrote beside the losing operation had seen what it wrote over: their edit is what remains, and no person is
// asked.
TEST(Plans, F3_AnEditBesideThatReplacedTheSameRemains) {
  TestCluster cluster(2);
  cluster.host(1).plan("u", {put("e", "seen")});
  ASSERT_TRUE(cluster.host(1).run());
  cluster.meetAll();
  cluster.host(1).plan("t", {put("e", "over it")});
  cluster.host(0).plan("t", {put("e", "beside it")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  for (int i = 0; i < 4; ++i) cluster.meetAll();
  EXPECT_TRUE(cluster.equal());
  EXPECT_EQ(cluster.host(0).says("e"), "\"beside it\"");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(cluster.host(i).aside.empty());
}

// One plan carried out on two devices; on one of them a person has built upon it. The other's repeat does not stand
// beside that as if it said something new.
TEST(Plans, ARepeatOfWhatWasBuiltUponIsNoConflict) {
  TestCluster cluster(2);
  for (std::size_t i = 0; i < 2; ++i) {
    cluster.host(i).plan("t", {put("e", "x")});
    ASSERT_TRUE(cluster.host(i).run());
  }
  cluster.host(0).write("e", "\"x, and more\"");
  for (int i = 0; i < 2; ++i) cluster.meetAll();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(cluster.host(i).says("e"), "\"x, and more\"");
  // What somebody wrote there beside it is one.
  cluster.host(1).write("e", "\"y\"");
  cluster.host(0).write("e", "\"z\"");
  for (int i = 0; i < 2; ++i) cluster.meetAll();
  EXPECT_TRUE(cluster.host(0).says("e").ends_with("(conflict)"));
}

// Two operations of the losing plan on one entity are undone from the end.
TEST(Plans, F3_OperationsThatStandOnOneAnotherAreUndoneFromTheEnd) {
  TestCluster cluster(2);
  cluster.host(1).write("f", "0");
  cluster.host(0).plan("t", {action("put", "e", "1")});
  cluster.host(1).plan("t", {action("count", "f"), action("count", "f"), action("count", "f")});
  ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
  EXPECT_EQ(cluster.host(1).says("f"), "3");
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (Host* host : {&cluster.host(0), &cluster.host(1)}) {
    EXPECT_EQ(host->says("f"), "0");
    EXPECT_TRUE(host->aside.empty());
  }
}

// b's plan loses against c's, then a's plan, which has the same operation as b's, turns up and wins over both: what was
// undone is wanted again.
TEST(Plans, F3_WhatWasUndoneIsRedoneWhenAPlanWithItWins) {
  TestCluster cluster(3);
  Host &onA = cluster.host(0), &onB = cluster.host(1), &onC = cluster.host(2);
  const auto meet = [&](std::size_t one, std::size_t other) {
    for (int i = 0; i < 3; ++i) {
      cluster.sync(one, other);
      cluster.reconcile(one);
      cluster.reconcile(other);
    }
  };
  onB.plan("t", {action("put", "e", "\"of b\"")});
  onC.plan("t", {action("put", "f", "\"of a and c\"")});
  ASSERT_TRUE(onB.run() && onC.run());
  meet(1, 2);
  EXPECT_EQ(onC.says("f"), "-");
  EXPECT_EQ(onC.says("e"), "\"of b\"");
  onA.plan("t", {action("put", "f", "\"of a and c\"")});
  meet(0, 1);
  meet(1, 2);
  meet(0, 1);
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
      TestCluster cluster(2);
      cluster.host(1).write("f", "0");
      cluster.host(0).plan("t", {action("put", "e", "1")});
      cluster.host(1).plan("t", {action("count", "f"), action("call", "x")});
      ASSERT_TRUE(cluster.host(0).run() && cluster.host(1).run());
      cluster.sync(0, 1);
      (agents ? cluster.device(1).agentStore() : cluster.device(1).journalStore()).crashAt(n);
      ASSERT_TRUE(cluster.host(1).engine.reconcileAll(cluster.host(1).now).ok());
      if (!cluster.host(1).run()) {
        cluster.crash(1);
      } else {
        cluster.device(1).journalStore().reopen();
        cluster.device(1).agentStore().reopen();
      }
      for (int i = 0; i < 3; ++i) cluster.meetAll();
      EXPECT_EQ(cluster.host(1).says("f"), "0") << n;
      EXPECT_TRUE(cluster.host(1).aside.empty());
      EXPECT_TRUE(cluster.equal());
      EXPECT_EQ(cluster.world.calls.size(), 2u);
    }
}

}  // namespace
}  // namespace witan::saga::test::plans_test
