// Seed 002, phase 3: no effect without a permit, every step on record, and a replay that gives the same state.
#include "agents/decision/decision_loop.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json_codec.h"
#include "tests/agents/draw.h"

namespace witan::decision_loop_test {
namespace {

using namespace witan::agents::decision;
using witan::agents::test::draw;

// Only the loop makes permits, and one permit is for one call.
static_assert(!std::is_constructible_v<Permit, std::string, Tool, Natural>);
static_assert(!std::is_default_constructible_v<Permit> && !std::is_copy_constructible_v<Permit>);

const Action kCall{ActionKind::toolCall, "kg.query", "who?"};
const Tool kTool{0, false, 100, 5};

CallResult answered(std::string observation = "nobody") {
  return {{CallOutcome::succeeded, 100, 5}, {1, Natural(observation.size())}, std::move(observation)};
}

TEST(DecisionLoop, APermittedCallIsPaidBeforeItHappens) {
  DecisionLoop loop(State{});
  auto permit = loop.begin(kCall, kTool);
  ASSERT_TRUE(permit.ok() && permit->has_value());
  EXPECT_EQ((*permit)->toolName(), "kg.query");
  EXPECT_EQ(loop.state().tokenBudget, Natural(9'900));
  ASSERT_TRUE(loop.finish(**std::move(permit), answered(), 40).ok());
  EXPECT_EQ(loop.state().satisfaction, Natural(40));
  EXPECT_EQ(loop.state().tokenBudget, Natural(9'900));
  EXPECT_EQ(loop.history().back().observation, "nobody");
}

TEST(DecisionLoop, ARefusedCallEndsTheAgentAndSaysWhy) {
  DecisionLoop loop(State{});
  const auto permit = loop.begin(kCall, {2, false, 0, 0});
  ASSERT_TRUE(permit.ok());
  EXPECT_FALSE(permit->has_value());
  EXPECT_EQ(loop.state().error, ErrorKind::preconditionFailed);
  EXPECT_EQ(loop.history().back().observation, "file access level: needs 2, has 0");
  const auto next = loop.begin({ActionKind::noAction, "", ""}, {});
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().message, "the agent must respond (preconditionFailed)");
}

// external-tool-call-bounded: 10,000 elements, or a byte too many, end as tool-error.
TEST(DecisionLoop, AnAnswerBeyondTheBoundsEndsAsToolError) {
  for (const ResponseSize<RunTime> size : {ResponseSize<RunTime>{10'000, 10}, ResponseSize<RunTime>{1, 1'001}}) {
    DecisionLoop loop(State{}, 1'000);
    auto permit = loop.begin(kCall, kTool);
    ASSERT_TRUE(loop.finish(**std::move(permit), {{CallOutcome::succeeded, 1, 1}, size, "..."}, 0).ok());
    EXPECT_EQ(loop.state().error, ErrorKind::toolError);
    EXPECT_EQ(loop.history().back().decided.input.report.outcome, CallOutcome::broken);
  }
  DecisionLoop loop(State{}, 1'000);
  auto permit = loop.begin(kCall, kTool);
  ASSERT_TRUE(loop.finish(**std::move(permit), {{CallOutcome::failed, 1, 1}, {9'999, 1'000}, "no"}, 0).ok());
  EXPECT_FALSE(loop.mustRespond());
}

TEST(DecisionLoop, ACallIsFinishedOnceAndBeforeTheNextStep) {
  DecisionLoop loop(State{}), other(State{});
  auto permit = loop.begin(kCall, kTool);
  EXPECT_EQ(loop.begin(kCall, kTool).error().code, ErrorCode::conflict);
  EXPECT_EQ(other.finish(**std::move(permit), answered(), 0).error().code, ErrorCode::conflict);
  DecisionLoop late(State{});
  auto first = late.begin(kCall, kTool);
  Permit kept = **std::move(first);
  Permit moved = std::move(kept);
  ASSERT_TRUE(late.finish(std::move(moved), answered(), 0).ok());
  EXPECT_EQ(late.finish(std::move(kept), answered(), 0).error().code, ErrorCode::conflict);
}

TEST(DecisionLoop, WhatToolsSayIsNotTrusted) {
  DecisionLoop loop(State{});
  auto permit = loop.begin(kCall, kTool);
  ASSERT_TRUE(loop.finish(**std::move(permit), answered("\xff\xfe"), 0).ok());
  EXPECT_EQ(loop.history().back().observation, "(2 bytes that are not UTF-8)");
  EXPECT_FALSE(loop.begin({ActionKind::finalAnswer, "", "\xff"}, {}).ok());
  EXPECT_FALSE(loop.begin({ActionKind::finalAnswer, "", std::string(kTextMax + 1, 'x')}, {}).ok());
  EXPECT_EQ(loop.history().size(), 1u);
}

// Runs a random agent until it must respond; it always does, in at most maxSteps turns. The first `idle` of them are
// without action.
DecisionLoop randomRun(int idle = 0) {
  State initial{.fileAccess = draw<Natural>(), .executeAllowed = draw<bool>()};
  initial.tokenBudget = saturatingPlus(draw<Natural>(), Natural(100));
  initial.maxSteps = Natural(*rc::gen::inRange<unsigned>(2, 12));
  DecisionLoop loop(initial);
  for (int turns = 0; !loop.mustRespond(); ++turns) {
    RC_ASSERT(turns < 12);
    const ActionKind kind = turns < idle ? ActionKind::noAction : draw<ActionKind>();
    auto permit = loop.begin({kind, "tool", "text"}, draw<Tool>());
    RC_ASSERT(permit.ok());
    if (!permit->has_value()) continue;
    const CallResult result{draw<CallReport<RunTime>>(), draw<ResponseSize<RunTime>>(), "observed"};
    RC_ASSERT(loop.finish(**std::move(permit), result, draw<Natural>()).ok());
  }
  return loop;
}

RC_GTEST_PROP(History, ReplaysToTheSameState, ()) {
  const DecisionLoop loop = randomRun();
  const auto replayed = replay(loop.initial(), loop.history());
  RC_ASSERT(replayed.ok());
  RC_ASSERT(*replayed == loop.state());
}

// history-shows-a-gap, -a-double: whatever record is taken out or doubled.
RC_GTEST_PROP(History, ShowsWhatIsMissingOrDoubled, ()) {
  const DecisionLoop loop = randomRun(2);
  const auto at = *rc::gen::inRange<std::size_t>(0, loop.history().size() - 1);
  History gap = loop.history(), doubled = loop.history();
  gap.erase(gap.begin() + static_cast<std::ptrdiff_t>(at));
  doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(at), doubled[at]);
  RC_ASSERT(!replay(loop.initial(), gap).ok());
  RC_ASSERT(!replay(loop.initial(), doubled).ok());
}

TEST(History, NamesTheRecordThatDoesNotFit) {
  DecisionLoop loop(State{});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loop.begin({ActionKind::noAction, "", ""}, {}).ok());
  History damaged = loop.history();
  damaged.erase(damaged.begin() + 1);
  EXPECT_EQ(replay(State{}, damaged).error().message,
            "record 1 of the history does not fit: it is of step 3, without a call; the agent had taken 1 steps");
}

TEST(History, IsKeptAsJson) {
  DecisionLoop loop(State{});
  auto permit = loop.begin(kCall, kTool);
  ASSERT_TRUE(loop.finish(**std::move(permit), answered(), 40).ok());
  const std::string text = toJson(loop.history().front());
  ActionRecord back;
  ASSERT_TRUE(readJson(*parseJson(text), back, "record").ok());
  EXPECT_EQ(back, loop.history().front());
}

}  // namespace
}  // namespace witan::decision_loop_test
