// Undoing ends with all devices alike (saga/operation_marks.h): however devices that were cut off from one another plan
// one run, carry out what they planned and undo what lost, at the end nothing shows what an undone operation wrote.
#include <gtest/gtest.h>

#include "base/seams.h"
#include "tests/saga/stories.h"

namespace witan::saga::test::undoing_test {
namespace {

TEST(Undoing, WhatArrivesAfterItIsUndoneToo) { EXPECT_EQ(repeatAfterUndoing(), ""); }

// The same where somebody wrote something after the compensation: that stays, once, and nobody is asked about two
// copies.
TEST(Undoing, WhatWasWrittenBesideItStays) {
  TestCluster cluster(3);
  enum { a, b, c };
  cluster.host(a).plan("t", {put("brief", "x")});
  cluster.host(b).plan("t", {put("long", "y")});
  cluster.host(c).plan("t", {put("long", "y")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(cluster.host(i).run());
  cluster.sync(a, b);
  cluster.reconcile(b);
  cluster.host(b).write("long", "\"a person's\"");
  cluster.sync(b, c);
  cluster.sync(a, b);
  EXPECT_EQ(cluster.host(b).says("long"), "\"a person's\"");
  cluster.sync(a, c);
  cluster.reconcile(b), cluster.reconcile(c);  // neither has heard of the other's
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cluster.host(i).says("long"), "\"a person's\"");
    EXPECT_TRUE(cluster.host(i).aside.empty());
  }
}

// Of the compensation the outcome has come, and not yet what it did to the entity. That it wrote over what shows here,
// so no further one is begun.
TEST(Undoing, WaitsForWhatTheCompensationDid) {
  unsigned found = 0;
  for (std::size_t frames = 1; frames < 40; ++frames) {
    TestCluster cluster(3);
    enum { a, b, c };
    cluster.host(a).plan("t", {put("brief", "x")});
    const PlanBody lost = cluster.host(b).plan("t", {put("long", "y")});
    const OperationId first = compensationOperationId(intentsOf(lost)[0].id()), second = nextCompensation(first);
    for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(cluster.host(i).run());
    cluster.sync(a, b), cluster.sync(a, c), cluster.sync(b, c);
    cluster.reconcile(b);
    cluster.syncUntil(b, c, frames);
    if (cluster.host(c).recordsIn(DatabaseName::agents, first) == 0) continue;
    if (cluster.host(c).recordsIn(DatabaseName::journal, first) > 0) continue;
    ++found;
    cluster.reconcile(c);
    EXPECT_EQ(cluster.host(c).recordsIn(DatabaseName::agents, second), 0u) << frames;
    for (int i = 0; i < 3; ++i) cluster.meetAll();
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(cluster.host(i).says("long"), "-");
      EXPECT_EQ(cluster.host(i).recordsIn(DatabaseName::agents, second), 0u) << frames;
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(Undoing, WaitsForTheUndoingOfWhatWasWrittenOverIt) { EXPECT_EQ(undoingOnItsWay(), ""); }

// A person has undone it; another device had carried out the same plan.
TEST(Undoing, APersonsUndoingReachesWhatCameLater) {
  TestCluster cluster(2);
  const PlanBody plan = cluster.host(0).plan("t", {put("e", "x")});
  cluster.host(1).plan("t", {put("e", "x")});
  for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(cluster.host(i).run());
  const OperationId done = intentsOf(plan)[0].id();
  ASSERT_TRUE(cluster.host(0).engine.compensate(done, cluster.host(0).now).ok());
  ASSERT_TRUE(cluster.host(0).run());
  EXPECT_EQ(cluster.host(0).says("e"), "-");
  cluster.sync(0, 1);
  EXPECT_EQ(cluster.host(0).says("e"), "\"x\" (conflict)");
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(cluster.host(i).engine.undoAgain(kScope, done, cluster.host(i).now).ok());
    ASSERT_TRUE(cluster.host(i).run());
    EXPECT_EQ(cluster.host(i).says("e"), "-");
  }
  cluster.sync(0, 1);
  EXPECT_EQ(cluster.host(0).says("e"), "-");
  const Status again = cluster.host(0).engine.compensate(done, cluster.host(0).now);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("was compensated before"), std::string::npos);
}

// Two plans lost, and both had written one entity; each of two devices undoes both, one after the other.
TEST(Undoing, OfTwoThatWroteOneEntityLeavesWhatWasBefore) {
  TestCluster cluster(3);
  enum { a, b, c };
  cluster.host(a).write("e", "\"old\"");
  for (int i = 0; i < 2; ++i) cluster.meetAll();
  cluster.host(a).plan("t", {put("brief", "x")});
  cluster.host(b).plan("t", {put("e", "y")});
  cluster.host(c).plan("t", {put("e", "z")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(cluster.host(i).run());
  cluster.sync(a, b), cluster.sync(a, c), cluster.sync(b, c);
  cluster.reconcile(b), cluster.reconcile(c);
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cluster.host(i).says("e"), "\"old\"");
    EXPECT_TRUE(cluster.host(i).aside.empty());
  }
}

// The compensation left nothing, everybody knows that, and its tombstone is gone: it can be taken back all the same.
TEST(Undoing, IsTakenBackWhenNothingIsLeftOfIt) {
  TestCluster cluster(2);
  const PlanBody plan = cluster.host(0).plan("t", {put("e", "x")});
  ASSERT_TRUE(cluster.host(0).run());
  const OperationId done = intentsOf(plan)[0].id(), compensation = compensationOperationId(done);
  ASSERT_TRUE(cluster.host(0).engine.compensate(done, cluster.host(0).now).ok());
  ASSERT_TRUE(cluster.host(0).run());
  Space& journal = cluster.device(0).journal();
  journal.stabilise(journal.vector());
  ASSERT_EQ(journal.versions(Kind::journal, "e")->size(), 0u);
  ASSERT_TRUE(cluster.host(0).engine.compensate(compensation, cluster.host(0).now).ok());
  ASSERT_TRUE(cluster.host(0).run());
  EXPECT_EQ(cluster.host(0).says("e"), "\"x\"");
  EXPECT_TRUE(cluster.host(0).aside.empty());
}

// On one device the operation wrote over what a person had edited, on the other over what had been before that: no
// machine can say which of them comes back.
TEST(Undoing, OfWhatStoodOnDifferentEditsIsForAPerson) {
  TestCluster cluster(3);
  enum { a, b, c };
  cluster.host(b).write("e", "\"first\"");
  for (int i = 0; i < 2; ++i) cluster.meetAll();
  cluster.host(c).write("e", "\"second\"");
  cluster.host(a).plan("t", {put("brief", "x")});
  cluster.host(b).plan("t", {put("e", "y")});
  cluster.host(c).plan("t", {put("e", "y")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(cluster.host(i).run());
  for (int i = 0; i < 3; ++i) cluster.meetAll();
  EXPECT_EQ(cluster.host(b).says("e"), "\"y\"");
  ASSERT_EQ(cluster.host(b).aside.size(), 1u);
  EXPECT_NE(cluster.host(b).aside[0].lastError.find("e stood differently"), std::string::npos)
      << cluster.host(b).aside[0].lastError;
}

// Any order of planning, work, meetings that are cut short, compensation and power that fails.
std::string anyOrder(std::uint64_t seed, std::uint64_t& further) {
  constexpr const char* kWords[] = {"brief", "long", "strange"};
  SeededRandom random(seed);
  TestCluster cluster(4);
  const auto one = [&] { return static_cast<std::size_t>(random.below(cluster.size())); };
  std::vector<OperationId> of;  // by word
  for (const char* word : kWords) of.push_back(intentsOf({runOf("t").value, "agent-1", {put(word, "x")}})[0].id());
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (random.below(4) == 0) continue;
    cluster.host(i).plan("t", {put(kWords[random.below(3)], "x")});
    if (random.below(2) == 0) cluster.reconcile(i);
  }
  for (int step = 0; step < 30; ++step) {
    const std::size_t i = one(), j = one();
    Host& host = cluster.host(i);
    switch (random.below(6)) {
      case 0: {
        const PlanView view = host.planView("t");
        if (!view.winner)
          host.plan("t", {put(kWords[random.below(3)], "x")});
        else
          EXPECT_TRUE(host.engine.begin(intentsOf(view.winner->body), host.now).ok());
        break;
      }
      case 1: EXPECT_TRUE(host.round()); break;
      case 2: EXPECT_TRUE(host.run()); break;
      case 3:
        if (i != j) cluster.syncUntil(i, j, random.below(24));
        break;
      case 4:
        if (random.below(6) == 0) cluster.crash(i);
        break;
      default: cluster.reconcile(i);
    }
  }
  for (int i = 0; i < 8; ++i) cluster.meetAll();
  const PlanView view = cluster.host(0).planView("t");
  for (std::size_t i = 0; i < cluster.size(); ++i)
    for (std::size_t w = 0; w < 3; ++w) {
      const std::string who = std::string(1, static_cast<char>('a' + i)) + " shows of " + kWords[w] + ": ";
      const bool wanted = view.winner && view.winner->operations.front() == of[w];
      const bool written = cluster.host(i).recordsIn(DatabaseName::journal, of[w]) > 0;
      const std::string says = cluster.host(i).says(kWords[w]);
      if (says != (wanted && written ? "\"x\"" : "-")) return who + says;
      if (!cluster.host(i).aside.empty()) return who + "put aside: " + cluster.host(i).aside[0].lastError;
      further += cluster.host(i).recordsIn(DatabaseName::journal, nextCompensation(compensationOperationId(of[w])));
    }
  for (std::size_t i = 1; i < cluster.size(); ++i) replication::test::expectEqual(cluster.device(0), cluster.device(i));
  return {};
}

TEST(Undoing, EndsAlikeInAnyOrder) {
  std::uint64_t further = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) EXPECT_EQ(anyOrder(seed, further), "") << "seed " << seed;
  EXPECT_GT(further, 20u) << "orders in which something came after its compensation";
}

}  // namespace
}  // namespace witan::saga::test::undoing_test
