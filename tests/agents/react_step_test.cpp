// Seed 002, react-step: a table of what it does, as the seed's implementation behaves (finding F10).
#include <gtest/gtest.h>

#include "agents/decision/transitions.h"

namespace witan::react_step_test {
namespace {

using namespace witan::agents::decision;

State start() { return {.stepCounter = 3, .maxSteps = 10, .tokenBudget = 500, .timeBudget = 60, .fileAccess = 1}; }

struct Case {
  const char* what;
  ActionKind action;
  Tool tool;
  void (*expected)(State&);  // what changes beside the step counter
  bool invoked;
};

const Case kCases[] = {
    {"a call that is permitted and affordable is paid",
     ActionKind::toolCall,
     {1, false, 100, 5},
     [](State& st) { st.tokenBudget = 400, st.timeBudget = 55; },
     true},
    {"it may spend all tokens", ActionKind::toolCall, {0, false, 500, 0}, [](State& st) { st.tokenBudget = 0; }, true},
    {"it may spend all seconds", ActionKind::toolCall, {0, false, 0, 60}, [](State& st) { st.timeBudget = 0; }, true},
    {"one token too many is refused",
     ActionKind::toolCall,
     {0, false, 501, 0},
     [](State& st) { st.error = ErrorKind::preconditionFailed; },
     false},
    {"one second too many is refused",
     ActionKind::toolCall,
     {0, false, 0, 61},
     [](State& st) { st.error = ErrorKind::preconditionFailed; },
     false},
    {"writing is refused to a reader",
     ActionKind::toolCall,
     {2, false, 1, 1},
     [](State& st) { st.error = ErrorKind::preconditionFailed; },
     false},
    {"code is refused where it is not allowed",
     ActionKind::toolCall,
     {0, true, 1, 1},
     [](State& st) { st.error = ErrorKind::preconditionFailed; },
     false},
    {"a final answer is done, whatever the tool",
     ActionKind::finalAnswer,
     {9, true, 9000, 9000},
     [](State& st) { st.done = true; },
     false},
    {"no action is only a step", ActionKind::noAction, {9, true, 9000, 9000}, [](State&) {}, false},
};

TEST(ReactStep, GoldenTable) {
  for (const Case& one : kCases) {
    State expected = start();
    expected.stepCounter = 4;
    one.expected(expected);
    const Step<RunTime> step = reactStep<RunTime>(one.action, one.tool, start());
    EXPECT_EQ(step.state, expected) << one.what;
    EXPECT_EQ(step.invoked, one.invoked) << one.what;
    EXPECT_EQ(guardedStep<RunTime>(one.action, one.tool, start()), step) << one.what;
  }
}

// "Requires: !mustRespond": the step itself does not ask, guardedStep does.
TEST(ReactStep, TheGuardIsASeparateFunction) {
  for (const auto stop : {+[](State& st) { st.done = true; }, +[](State& st) { st.error = ErrorKind::toolError; },
                          +[](State& st) { st.stepCounter = 10; }, +[](State& st) { st.tokenBudget = 0; },
                          +[](State& st) { st.timeBudget = 0; }}) {
    State st = start();
    stop(st);
    EXPECT_TRUE(mustRespond(st));
    EXPECT_EQ(guardedStep<RunTime>(ActionKind::toolCall, Tool{}, st), (Step<RunTime>{st, false}));
    EXPECT_NE(reactStep<RunTime>(ActionKind::toolCall, Tool{}, st).state, st);
  }
}

// Satisfaction plays no part in the step (a weakness of the seed's that its callers must know).
TEST(ReactStep, IgnoresSatisfaction) {
  State st = start();
  st.satisfaction = 100;
  EXPECT_FALSE(shouldContinue<RunTime>(st, Natural(kFullySatisfied)));
  EXPECT_TRUE(guardedStep<RunTime>(ActionKind::toolCall, Tool{}, st).invoked);
}

// What a call has cost beyond its estimate is charged, what it has not is kept (the seed charges the estimate alone).
TEST(Settle, ChargesTheExcessAndGivesNothingBack) {
  const Tool tool{0, false, 100, 10};
  EXPECT_EQ(settle(tool, {CallOutcome::succeeded, 130, 10}, start()).tokenBudget, Natural(470));
  EXPECT_EQ(settle(tool, {CallOutcome::succeeded, 30, 2}, start()), start());
  EXPECT_EQ(settle(tool, {CallOutcome::succeeded, 9000, 9000}, start()).timeBudget, Natural(0));
}

TEST(ClosingError, SaysWhatRanOut) {
  State st = start();
  EXPECT_EQ(closingError(st), ErrorKind::none);
  st.tokenBudget = 0;
  EXPECT_EQ(closingError(st), ErrorKind::resourceExhausted);
  st.stepCounter = 10;
  EXPECT_EQ(closingError(st), ErrorKind::maxIterations);
  st.done = true;
  EXPECT_EQ(closingError(st), ErrorKind::none);
  st.error = ErrorKind::toolError;
  EXPECT_EQ(closingError(st), ErrorKind::toolError);
}

}  // namespace
}  // namespace witan::react_step_test
