// Undoing ends with all devices alike (saga/operation_marks.h): however devices that were cut off from one another plan
// one run, carry out what they planned and undo what lost, at the end nothing shows what an undone operation wrote.
#include <gtest/gtest.h>

#include "base/seams.h"
#include "tests/saga/stories.h"

namespace witan::saga::test {
namespace {

TEST(Undoing, WhatArrivesAfterItIsUndoneToo) { EXPECT_EQ(repeatAfterUndoing(), ""); }

// The same where somebody wrote something after the compensation: that stays, once, and nobody is asked about two
// copies.
TEST(Undoing, WhatWasWrittenBesideItStays) {
  Party party(3);
  enum { a, b, c };
  party.host(a).plan("t", {put("brief", "x")});
  party.host(b).plan("t", {put("long", "y")});
  party.host(c).plan("t", {put("long", "y")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(party.host(i).run());
  party.sync(a, b);
  party.reconcile(b);
  party.host(b).write("long", "\"a person's\"");
  party.sync(b, c);
  party.sync(a, b);
  EXPECT_TRUE(party.host(b).says("long").ends_with("(conflict)"));
  party.sync(a, c);
  party.reconcile(b), party.reconcile(c);  // neither has heard of the other's
  for (int i = 0; i < 3; ++i) party.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(party.host(i).says("long"), "\"a person's\"");
    EXPECT_TRUE(party.host(i).aside.empty());
  }
}

// A person has undone it; another device had carried out the same plan.
TEST(Undoing, APersonsUndoingReachesWhatCameLater) {
  Party party(2);
  const PlanBody plan = party.host(0).plan("t", {put("e", "x")});
  party.host(1).plan("t", {put("e", "x")});
  for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(party.host(i).run());
  const OperationId done = intentsOf(plan)[0].id();
  ASSERT_TRUE(party.host(0).engine.compensate(done, party.host(0).now).ok());
  ASSERT_TRUE(party.host(0).run());
  EXPECT_EQ(party.host(0).says("e"), "-");
  party.sync(0, 1);
  EXPECT_EQ(party.host(0).says("e"), "\"x\" (conflict)");
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(party.host(i).engine.undoAgain(kScope, done, party.host(i).now).ok());
    ASSERT_TRUE(party.host(i).run());
    EXPECT_EQ(party.host(i).says("e"), "-");
  }
  party.sync(0, 1);
  EXPECT_EQ(party.host(0).says("e"), "-");
  const Status again = party.host(0).engine.compensate(done, party.host(0).now);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("was compensated before"), std::string::npos);
}

// Two plans lost, and both had written one entity; each of two devices undoes both, one after the other.
TEST(Undoing, OfTwoThatWroteOneEntityLeavesWhatWasBefore) {
  Party party(3);
  enum { a, b, c };
  party.host(a).write("e", "\"old\"");
  for (int i = 0; i < 2; ++i) party.meetAll();
  party.host(a).plan("t", {put("brief", "x")});
  party.host(b).plan("t", {put("e", "y")});
  party.host(c).plan("t", {put("e", "z")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(party.host(i).run());
  party.sync(a, b), party.sync(a, c), party.sync(b, c);
  party.reconcile(b), party.reconcile(c);
  for (int i = 0; i < 3; ++i) party.meetAll();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(party.host(i).says("e"), "\"old\"");
    EXPECT_TRUE(party.host(i).aside.empty());
  }
}

// The compensation left nothing, everybody knows that, and its tombstone is gone: it can be taken back all the same.
TEST(Undoing, IsTakenBackWhenNothingIsLeftOfIt) {
  Party party(2);
  const PlanBody plan = party.host(0).plan("t", {put("e", "x")});
  ASSERT_TRUE(party.host(0).run());
  const OperationId done = intentsOf(plan)[0].id(), compensation = compensationOperationId(done);
  ASSERT_TRUE(party.host(0).engine.compensate(done, party.host(0).now).ok());
  ASSERT_TRUE(party.host(0).run());
  Space& journal = party.device(0).journal();
  journal.stabilise(journal.vector());
  ASSERT_EQ(journal.versions(Kind::journal, "e")->size(), 0u);
  ASSERT_TRUE(party.host(0).engine.compensate(compensation, party.host(0).now).ok());
  ASSERT_TRUE(party.host(0).run());
  EXPECT_EQ(party.host(0).says("e"), "\"x\"");
  EXPECT_TRUE(party.host(0).aside.empty());
}

// On one device the operation wrote over what a person had edited, on the other over what had been before that: no
// machine can say which of them comes back.
TEST(Undoing, OfWhatStoodOnDifferentEditsIsForAPerson) {
  Party party(3);
  enum { a, b, c };
  party.host(b).write("e", "\"first\"");
  for (int i = 0; i < 2; ++i) party.meetAll();
  party.host(c).write("e", "\"second\"");
  party.host(a).plan("t", {put("brief", "x")});
  party.host(b).plan("t", {put("e", "y")});
  party.host(c).plan("t", {put("e", "y")});
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(party.host(i).run());
  for (int i = 0; i < 3; ++i) party.meetAll();
  EXPECT_EQ(party.host(b).says("e"), "\"y\"");
  ASSERT_EQ(party.host(b).aside.size(), 1u);
  EXPECT_NE(party.host(b).aside[0].lastError.find("e stood differently"), std::string::npos)
      << party.host(b).aside[0].lastError;
}

// Any order of planning, work, meetings that are cut short, compensation and power that fails.
std::string anyOrder(std::uint64_t seed, std::uint64_t& further) {
  constexpr const char* kWords[] = {"brief", "long", "strange"};
  SeededRandom random(seed);
  Party party(4);
  const auto one = [&] { return static_cast<std::size_t>(random.below(party.size())); };
  std::vector<OperationId> of;  // by word
  for (const char* word : kWords) of.push_back(intentsOf({runOf("t").value, "agent-1", {put(word, "x")}})[0].id());
  for (std::size_t i = 0; i < party.size(); ++i) {
    if (random.below(4) == 0) continue;
    party.host(i).plan("t", {put(kWords[random.below(3)], "x")});
    if (random.below(2) == 0) party.reconcile(i);
  }
  for (int step = 0; step < 30; ++step) {
    const std::size_t i = one(), j = one();
    Host& host = party.host(i);
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
        if (i != j) party.syncUntil(i, j, random.below(24));
        break;
      case 4:
        if (random.below(6) == 0) party.crash(i);
        break;
      default: party.reconcile(i);
    }
  }
  for (int i = 0; i < 8; ++i) party.meetAll();
  const PlanView view = party.host(0).planView("t");
  for (std::size_t i = 0; i < party.size(); ++i)
    for (std::size_t w = 0; w < 3; ++w) {
      const std::string who = std::string(1, static_cast<char>('a' + i)) + " shows of " + kWords[w] + ": ";
      const bool wanted = view.winner && view.winner->operations.front() == of[w];
      const bool written = party.host(i).recordsIn(DatabaseName::journal, of[w]) > 0;
      const std::string says = party.host(i).says(kWords[w]);
      if (says != (wanted && written ? "\"x\"" : "-")) return who + says;
      if (!party.host(i).aside.empty()) return who + "put aside: " + party.host(i).aside[0].lastError;
      further += party.host(i).recordsIn(DatabaseName::journal, nextCompensation(compensationOperationId(of[w])));
    }
  for (std::size_t i = 1; i < party.size(); ++i) replication::test::expectEqual(party.device(0), party.device(i));
  return {};
}

TEST(Undoing, EndsAlikeInAnyOrder) {
  std::uint64_t further = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) EXPECT_EQ(anyOrder(seed, further), "") << "seed " << seed;
  EXPECT_GT(further, 20u) << "orders in which something came after its compensation";
}

}  // namespace
}  // namespace witan::saga::test
