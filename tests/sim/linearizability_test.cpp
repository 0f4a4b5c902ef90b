// The history checker: what it must accept, what it must refuse, and that it says so when it gave up.
#include "sim/check/linearizability.h"

#include <gtest/gtest.h>

#include "tests/sim/made_history.h"

namespace witan::sim::test::linearizability_test {
namespace {

// Histories written by hand over chests: a chest begins with 40 gold; below 0 is rejected, above 60 escalated.
class Linearizability : public testing::Test {
 protected:
  Linearizability() {
    Operation init;
    init.kind = OperationKind::init;
    init.entity = "c";
    init.invoked = 0;
    init.returned = 1;
    init.stamp = Stamp{Time{0}};
    init.answer.decision.outcome = Outcome::initialised;
    history.push_back(init);
  }
  // Asked at `from`, answered at `to` (0: never).
  Operation& earn(std::int64_t from, std::int64_t to, std::int64_t gold, Outcome outcome, std::string id = {}) {
    Operation operation;
    operation.entity = "c";
    operation.operationId = id.empty() ? "op-" + std::to_string(history.size()) : id;
    operation.role = "Treasurer";
    operation.action = "{\"n\":" + std::to_string(gold) + ",\"type\":\"Earn\"}";
    operation.answer.decision.outcome = outcome;
    if (outcome == Outcome::rejected) operation.answer.decision.invariant = "GOLD_POSITIVE";
    if (outcome == Outcome::escalated) operation.answer.decision.invariant = "GOLD_HIGH";
    return add(std::move(operation), from, to);
  }
  Operation& decide(std::int64_t from, std::int64_t to, bool commit, Outcome outcome) {
    Operation operation;
    operation.kind = OperationKind::decide;
    operation.entity = "c";
    operation.operationId = "op-" + std::to_string(history.size());
    operation.counselor = "captain";
    operation.commit = commit;
    operation.answer.decision.outcome = outcome;
    return add(std::move(operation), from, to);
  }
  Operation& add(Operation operation, std::int64_t from, std::int64_t to) {
    operation.invoked = from;
    if (to != 0) operation.returned = to;
    operation.stamp = Stamp{Time{100}};
    history.push_back(std::move(operation));
    return history.back();
  }
  void says(std::string message) { history.back().answer.decision.message = std::move(message); }
  void accepts(const HistoryOptions& options = {}) {
    const HistoryReport report = checkLinearizability(*module, history, options);
    EXPECT_EQ(report.verdict, HistoryVerdict::linearizable) << report.reason;
  }
  void refuses(std::string_view because, const HistoryOptions& options = {}) {
    const HistoryReport report = checkLinearizability(*module, history, options);
    EXPECT_EQ(report.verdict, HistoryVerdict::notLinearizable);
    EXPECT_NE(report.reason.find(because), std::string::npos) << report.reason;
  }

  std::unique_ptr<kernel::DomainModule> module = chest::module();
  std::vector<Operation> history;
};

TEST_F(Linearizability, WhatComesAfterAnAnswerSeesIt) {
  earn(2, 3, -30, Outcome::approved);
  earn(4, 5, -20, Outcome::rejected);
  says("gold is -10");
  accepts();
}

// Finding F3: a run acts by the plan that came first.
TEST_F(Linearizability, F3_TwoPlansOfOneRun) {
  const auto under = [](Operation& operation, char plan) {
    operation.run.assign(32, 'r');
    operation.plan.assign(32, plan);
  };
  under(earn(2, 3, 1, Outcome::approved), 'a');
  under(earn(4, 5, 1, Outcome::rejected, "shared"), 'b');
  history.back().answer.decision.invariant = "KERNEL_INTEGRITY";
  under(earn(6, 7, 1, Outcome::approved, "shared"), 'a');
  accepts();
  under(earn(8, 9, 1, Outcome::approved), 'b');
  refuses("told approved, but it comes out as rejected KERNEL_INTEGRITY");
}

// Who was first may be open; that both were is not.
TEST_F(Linearizability, F3_TwoPlansAtOnce) {
  for (const char plan : {'a', 'b'}) {
    Operation& operation = earn(2, 3, 1, Outcome::approved);
    operation.run.assign(32, 'r');
    operation.plan.assign(32, plan);
  }
  refuses("KERNEL_INTEGRITY");
  history[1].answer.decision.outcome = Outcome::rejected;
  history[1].answer.decision.invariant = "KERNEL_INTEGRITY";
  accepts();
}

TEST_F(Linearizability, ADecisionOnAStateThatIsOver) {
  earn(2, 3, -30, Outcome::approved);
  earn(4, 5, -20, Outcome::approved);
  refuses("op-2 of client 0: told approved, but it comes out as rejected GOLD_POSITIVE");
}

TEST_F(Linearizability, ConcurrentOnesMayHaveAnyOrder) {
  earn(2, 9, -30, Outcome::rejected);
  says("gold is -10");
  earn(3, 8, -20, Outcome::approved);
  accepts();
}

TEST_F(Linearizability, TwoThatBothTookTheLast) {
  earn(2, 9, -30, Outcome::approved);
  earn(3, 8, -30, Outcome::approved);
  refuses("comes out as rejected");
}

TEST_F(Linearizability, AnAnswerWithAnotherReason) {
  earn(2, 3, -50, Outcome::rejected);
  says("gold is -11");
  refuses("the message comes out as \"gold is -10\"");
}

TEST_F(Linearizability, WhatWasNeverAnsweredMayHaveHappenedOrNot) {
  earn(2, 0, -30, Outcome::approved);
  earn(4, 5, -20, Outcome::approved);
  accepts();
  history.back().answer.decision = {
      .outcome = Outcome::rejected, .invariant = "GOLD_POSITIVE", .message = "gold is -10"};
  accepts();
  history[1].stamp.reset();  // the ledger has no entry of it
  refuses("comes out as approved");
}

TEST_F(Linearizability, ItDidNotHappenBeforeItWasAskedFor) {
  earn(6, 0, -30, Outcome::approved);
  earn(4, 5, -20, Outcome::rejected);
  says("gold is -10");
  refuses("comes out as approved");
}

TEST_F(Linearizability, FrozenUntilACounselorDecided) {
  earn(2, 3, 30, Outcome::escalated);
  says("gold is 70 and not sealed");
  earn(4, 5, 1, Outcome::frozen);
  decide(6, 7, false, Outcome::cRejected);
  earn(8, 9, 1, Outcome::approved);
  accepts();
  history[2].answer.decision = {.outcome = Outcome::approved};
  refuses("comes out as frozen");
  history[2].answer.decision = {.outcome = Outcome::frozen};
  history[4].answer.decision = {.outcome = Outcome::frozen};
  refuses("comes out as approved");
}

TEST_F(Linearizability, CommitsKeepTheCandidate) {
  earn(2, 3, 30, Outcome::escalated);
  says("gold is 70 and not sealed");
  decide(4, 5, true, Outcome::cCommitted).answer.decision.safe = false;
  history.back().answer.decision.violated = {"GOLD_HIGH"};
  earn(6, 7, -71, Outcome::rejected);
  says("gold is -1");
  accepts();
  history[2].answer.decision.safe = true;
  refuses("which invariants");
}

TEST_F(Linearizability, NobodyDecidesWithoutPendingOrRight) {
  decide(2, 3, true, Outcome::refused);
  earn(4, 5, 30, Outcome::escalated);
  says("gold is 70 and not sealed");
  decide(6, 7, true, Outcome::refused).counselor = "stranger";
  accepts();
  history.back().answer.decision = {.outcome = Outcome::cCommitted, .safe = false, .violated = {"GOLD_HIGH"}};
  refuses("comes out as refused");
}

// F17: an approval is of exactly what was shown.
TEST_F(Linearizability, AStaleDecisionIsRefused) {
  earn(2, 3, 30, Outcome::escalated).stamp->seq = 1;
  says("gold is 70 and not sealed");
  history.back().answer.decision.seq = 1;
  decide(4, 5, false, Outcome::refused).escalation = 7;
  accepts();
  history.back().answer.decision.outcome = Outcome::cRejected;
  refuses("comes out as refused");
  history.back().escalation = 1;
  accepts();
  history[1].stamp->leaf[0] = 1;
  history.back().pendingDigest = Hash{};
  refuses("comes out as refused");
}

TEST_F(Linearizability, ARepeatedIdAnswersWhatWasRecorded) {
  earn(2, 3, -30, Outcome::approved, "op");
  earn(4, 5, -30, Outcome::duplicate, "op").answer.decision.recorded = Outcome::approved;
  accepts();
  history.back().answer.decision.recorded = Outcome::rejected;
  refuses("comes out as duplicate of approved");
}

TEST_F(Linearizability, ARepeatedIdIsNotDecidedAgain) {
  earn(2, 3, -10, Outcome::approved, "op");
  earn(4, 5, -10, Outcome::approved, "op");
  refuses("comes out as duplicate");
}

TEST_F(Linearizability, OneIdOneAct) {
  earn(2, 3, -10, Outcome::approved, "op");
  earn(4, 5, -11, Outcome::refused, "op");
  accepts();
  history.back().answer.decision = {.outcome = Outcome::duplicate, .recorded = Outcome::approved};
  refuses("comes out as refused");
}

// An id that names acts of two entities: they can't be judged one by one.
TEST_F(Linearizability, OneIdTwoEntities) {
  history.push_back(history[0]);
  history.back().entity = "d";
  earn(2, 3, -10, Outcome::approved, "op");
  earn(4, 5, -10, Outcome::refused, "op").entity = "d";
  accepts();
  history.back().answer.decision.outcome = Outcome::approved;
  refuses("comes out as refused");
}

TEST_F(Linearizability, WhatIsRememberedStaysSo) {
  earn(2, 3, 30, Outcome::escalated);
  says("gold is 70 and not sealed");
  earn(4, 5, 1, Outcome::frozen, "op").remember = true;
  decide(6, 7, false, Outcome::cRejected);
  earn(8, 9, 1, Outcome::duplicate, "op").answer.decision.recorded = Outcome::frozen;
  accepts();
  history.back().answer.decision = {.outcome = Outcome::approved};
  refuses("comes out as duplicate of frozen");
}

TEST_F(Linearizability, ProposalsExpireInTheirTime) {
  earn(2, 3, 30, Outcome::escalated);
  says("gold is 70 and not sealed");
  earn(4, 5, 1, Outcome::approved);
  Operation expiry;
  expiry.kind = OperationKind::expire;
  expiry.entity = "c";
  expiry.operationId = "expire:1";
  expiry.stamp = Stamp{Time{150}, 2};
  expiry.invoked = -1;
  history[1].stamp->seq = history[1].answer.decision.seq = 1;
  history.push_back(expiry);
  accepts({.pendingTtlMicros = 50});
  refuses("frozen", {.pendingTtlMicros = 51});
  refuses("frozen", {.pendingTtlMicros = 0});
}

TEST_F(Linearizability, NumbersFollowTheOrder) {
  earn(2, 3, 1, Outcome::approved).stamp->seq = 2;
  history.back().answer.decision.seq = 2;
  earn(4, 5, 1, Outcome::approved).stamp->seq = 1;
  history.back().answer.decision.seq = 1;
  refuses("is not the next");
  history.back().invoked = 2;
  accepts();
}

TEST_F(Linearizability, UnknownEntitiesAndNamesOfTheKernel) {
  earn(2, 3, 1, Outcome::refused).entity = "nobody";
  earn(2, 3, 1, Outcome::refused, "expire:7");
  earn(2, 3, 1, Outcome::refused).action = "{\"type\":\"Nonsense\"}";
  accepts();
  history[1].answer.decision.outcome = Outcome::frozen;
  refuses("comes out as refused");
}

TEST_F(Linearizability, InitOnce) {
  history.push_back(history[0]);
  history.back().invoked = 5;
  history.back().returned = 6;
  history.back().answer.decision = {.outcome = Outcome::duplicate, .recorded = Outcome::initialised};
  accepts();
  history.back().answer.decision = {.outcome = Outcome::initialised};
  refuses("told initialised");
}

TEST_F(Linearizability, DeclaredLossesExcuse) {
  earn(2, 3, -30, Outcome::approved).answer.epoch = {1, "a"};
  history.back().answer.decision.seq = 1;
  history.back().stamp.reset();
  earn(4, 5, -20, Outcome::approved).answer.epoch = {2, "b"};
  refuses("would be decided now and has no entry");
  accepts({.lost = {{{1, "a"}, 1}}});
  refuses("", {.lost = {{{1, "a"}, 2}}});
  refuses("", {.lost = {{{1, "b"}, 1}}});
}

// One operation id, asked for under two plans of its run: the first decision was lost with its epoch, the second stands
// in the log. The entry is the second one's, and the run is bound to its plan, whoever asked first.
TEST_F(Linearizability, F3_ALostDecisionUnderAnotherPlanBindsNothing) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MadeHistory made(*module, seed);
    for (const Operation& operation : made.operations) {
      const kernel::Decision& told = operation.answer.decision;
      if (operation.run.empty() || !operation.returned || told.outcome != Outcome::approved) continue;
      history = made.operations;
      Operation lost = operation;
      lost.plan = asView(sha256("a plan that was lost"));
      lost.invoked = 0, lost.returned = 1;
      lost.answer.epoch = {9, "gone"};
      history.insert(history.begin(), lost);
      stampFromLog(history, made.log);
      EXPECT_FALSE(history.front().stamp.has_value());
      EXPECT_TRUE(history.front().returned.has_value()) << "its answer is judged by the losses alone";
      accepts({.lost = {{{9, "gone"}, 0}}});
      ++tried;
    }
  }
  EXPECT_GT(tried, 10u);
}

// Both were told "duplicate": whoever made the entry asked by its plan, although another plan asked first.
TEST(Stamps, WhoMadeAnEntryUnheardAskedByItsPlan) {
  const auto module = chest::module();
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MadeHistory made(*module, seed);
    for (const Operation& operation : made.operations) {
      if (operation.run.empty() || !operation.returned || operation.answer.decision.outcome != Outcome::approved)
        continue;
      Operation mine = operation;
      mine.answer.decision.outcome = Outcome::duplicate;
      Operation other = mine;
      other.plan = asView(sha256("another plan"));
      --other.invoked;
      std::vector<Operation> history{other, mine};
      stampFromLog(history, made.log);
      std::erase_if(history, [&](const Operation& one) { return one.returned || one.operationId != mine.operationId; });
      ASSERT_EQ(history.size(), 1u);
      EXPECT_EQ(history.front().plan, mine.plan);
      ++tried;
    }
  }
  EXPECT_GT(tried, 10u);
}

TEST_F(Linearizability, GivesUpAndSaysSo) {
  // Everything at once and one answer that fits nowhere: all orders would have to be tried.
  for (int i = 0; i < 12; ++i) earn(2, 100, -1 - i % 3, Outcome::approved);
  earn(2, 100, -40, Outcome::approved);
  const HistoryReport report = checkLinearizability(*module, history, {.maxStates = 50});
  EXPECT_EQ(report.verdict, HistoryVerdict::undecided);
  EXPECT_NE(report.reason.find("50 states"), std::string::npos);
  refuses("comes out as rejected");
}

// --- histories that a real partition made

void expectLinearizable(const kernel::DomainModule& module, const std::vector<Operation>& history,
                        const HistoryOptions& options, std::uint64_t seed) {
  const HistoryReport report = checkLinearizability(module, history, options);
  ASSERT_EQ(report.verdict, HistoryVerdict::linearizable) << "seed " << seed << ": " << report.reason;
}

TEST(MadeHistories, AreLinearizable) {
  const auto module = chest::module();
  std::map<Outcome, int> reached;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const std::int64_t ttl = seed % 3 == 0 ? 40 : 0;
    const MadeHistory made(*module, seed, {.operations = 80, .ttl = ttl});
    expectLinearizable(*module, made.stamped(), {.pendingTtlMicros = ttl}, seed);
    for (const Operation& operation : made.operations)
      if (operation.returned) ++reached[operation.answer.decision.outcome];
  }
  for (const Outcome outcome : {Outcome::approved, Outcome::rejected, Outcome::escalated, Outcome::cCommitted,
                                Outcome::cRejected, Outcome::refused, Outcome::frozen, Outcome::duplicate})
    EXPECT_GT(reached[outcome], 20) << enumName(outcome);
}

// Without the ledger: from what the clients saw alone.
TEST(MadeHistories, AreLinearizableWithoutTheirLedger) {
  const auto module = chest::module();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const MadeHistory made(*module, seed, {.operations = 30, .trouble = false});
    expectLinearizable(*module, made.unnumbered(), {}, seed);
  }
}

// Each answer in turn is replaced by one that is wrong.
TEST(MadeHistories, ACorruptedAnswerIsNoticed) {
  const auto module = chest::module();
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto good = MadeHistory(*module, seed, {.operations = 50}).stamped();
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (!good[i].returned || good[i].kind == OperationKind::init) continue;
      auto bad = good;
      kernel::Decision& told = bad[i].answer.decision;
      Outcome& outcome = told.outcome == Outcome::duplicate ? told.recorded : told.outcome;
      outcome = outcome == Outcome::approved ? Outcome::rejected : Outcome::approved;
      EXPECT_EQ(checkLinearizability(*module, bad).verdict, HistoryVerdict::notLinearizable)
          << "seed " << seed << ": " << nameOf(bad[i]);
      ++tried;
    }
  }
  EXPECT_GT(tried, 300u);
}

// An operation that never happened, and one whose effect is left out.
TEST(MadeHistories, AMissingEffectIsNoticed) {
  const auto module = chest::module();
  std::size_t noticed = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto good = MadeHistory(*module, seed, {.entities = 1, .operations = 50, .trouble = false}).stamped();
    for (std::size_t i = 1; i < good.size() && i < 20; ++i) {
      if (good[i].answer.decision.outcome != Outcome::escalated) continue;
      auto bad = good;
      bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(i));
      ++tried;
      noticed += checkLinearizability(*module, bad).verdict == HistoryVerdict::notLinearizable;
    }
  }
  EXPECT_GT(tried, 20u);
  EXPECT_EQ(noticed, tried);
}

}  // namespace
}  // namespace witan::sim::test::linearizability_test
