// Plans: one winner for each run key (F3).
#include "replication/records/record_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "tests/replication/record_history.h"

namespace witan::replication::plan_test {
namespace {

const RunKey kRun = *subscriptionRunKey("agent-1", "sub-1", *logicalChangeKey(std::vector{ChangeUnitKey{}}));

PlanAction actionOn(std::string target) {
  return {"journal.setStatus", R"({"a":1,"b":"x"})", {"category:work"}, {std::move(target)}};
}
PlanBody planWith(const std::vector<std::string>& targets) {
  PlanBody body{kRun.value, "agent-1", {}};
  for (const auto& t : targets) body.actions.push_back(actionOn(t));
  return body;
}
PlanBody somePlan() {
  return planWith(*rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("t1", "t2", "t3")));
}

std::vector<Version> someHistory() {
  return test::generatedHistory(6, [](const std::vector<Version>&) { return *encodeRecord(somePlan()); });
}

// F3: "the deterministic winner is the plan whose (hostId, counter) dot is smallest".
RC_GTEST_PROP(F3, OneWinnerWithTheSmallestDotForAnyOrder, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    const PlanView view = planViewOf(kRun, all);
    RC_ASSERT(planViewOf(kRun, test::shuffled(all)) == view);
    for (const Version& v : all) RC_ASSERT(view.winner->dot <= v.dot);
    RC_ASSERT(1 + view.losers.size() + view.repeats.size() == all.size());
    for (const Plan& loser : view.losers) RC_ASSERT(loser.digest != view.winner->digest);
  });
}

// F3: after the compensations what remains is what the winner planned, whoever of the planners had acted.
RC_GTEST_PROP(F3, CompensationsLeaveExactlyTheWinnersOperations, ()) {
  test::onManyHistories([] {
    const PlanView view = planViewOf(kRun, someHistory());
    std::set<OperationId> done(view.winner->operations.begin(), view.winner->operations.end());
    for (const Plan& loser : view.losers) done.insert(loser.operations.begin(), loser.operations.end());
    for (const OperationId& operation : operationsToUndo(view)) RC_ASSERT(done.erase(operation) == 1u);
    RC_ASSERT(done == std::set<OperationId>(view.winner->operations.begin(), view.winner->operations.end()));
  });
}

// The failing twin: without a winner both sets of mutations land (F3).
TEST(F3, WithoutAWinnerBothPlansWouldBeCarriedOut) {
  const std::vector<Version> both{{{"A", 7}, {{"A", 7}}, *encodeRecord(planWith({"t1", "t2"})), false},
                                  {{"B", 3}, {{"B", 3}}, *encodeRecord(planWith({"t2", "t3"})), false}};
  const auto a = *operationsOf(planWith({"t1", "t2"})), b = *operationsOf(planWith({"t2", "t3"}));
  std::set<OperationId> landed(a.begin(), a.end());
  landed.insert(b.begin(), b.end());
  EXPECT_EQ(landed.size(), 3u);
  const PlanView view = planViewOf(kRun, both);
  EXPECT_EQ(view.winner->dot, (Dot{"A", 7}));
  const auto undo = operationsToUndo(view);
  ASSERT_EQ(undo.size(), 1u);
  EXPECT_EQ(undo[0], b[1]);
}

// 003, section 11: "5. replay idempotency for runKey and operationId": a plan read back, on any device, any number of
// times, gives the operation ids that it was written with; a repeated action has an id of its own.
RC_GTEST_PROP(Obligation5, AReplayedPlanHasTheSameOperationIds, ()) {
  test::onManyHistories([] {
    const PlanBody body = somePlan();
    const auto bytes = *encodeRecord(body);
    const auto first = planViewOf(kRun, std::vector<Version>{{{"A", 1}, {}, bytes, false}});
    const auto replay = planViewOf(kRun, std::vector<Version>{{{"B", 9}, {}, bytes, false}});
    RC_ASSERT(first.winner->operations == replay.winner->operations);
    RC_ASSERT(first.winner->digest == replay.winner->digest);
    RC_ASSERT(first.winner->operations.size() == body.actions.size());
    const std::set<OperationId> distinct(first.winner->operations.begin(), first.winner->operations.end());
    RC_ASSERT(distinct.size() == body.actions.size());
  });
}

TEST(Obligation5, OtherRunsAndOtherActionsHaveOtherIds) {
  const auto ids = *operationsOf(planWith({"t1"}));
  PlanBody other = planWith({"t1"});
  other.runKey[0] ^= 1;
  EXPECT_NE(ids, *operationsOf(other));
  EXPECT_NE(ids, *operationsOf(planWith({"t2"})));
  // The order of scope and targets is no difference (identity.md).
  PlanBody two = planWith({"t1"}), turned = two;
  two.actions[0].targets = {"t1", "t2"};
  turned.actions[0].targets = {"t2", "t1"};
  EXPECT_EQ(*operationsOf(two), *operationsOf(turned));
}

TEST(Plan, EqualPlansDoNotConflictAndForeignOnesAreUnreadable) {
  PlanBody other = planWith({"t1"});
  other.runKey[0] ^= 1;
  const auto view = planViewOf(kRun, std::vector<Version>{{{"A", 1}, {}, *encodeRecord(planWith({"t1"})), false},
                                                          {{"B", 1}, {}, *encodeRecord(planWith({"t1"})), false},
                                                          {{"C", 1}, {}, *encodeRecord(other), false},
                                                          {{"D", 1}, {}, "", true}});
  EXPECT_TRUE(view.losers.empty());
  EXPECT_THAT(view.repeats, testing::ElementsAre(Dot{"B", 1}));
  EXPECT_EQ(view.unreadable.size(), 2u);
  EXPECT_TRUE(operationsToUndo(view).empty());
}

}  // namespace
}  // namespace witan::replication::plan_test
