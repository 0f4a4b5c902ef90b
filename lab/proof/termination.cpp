// Seed 002, "Termination Theorems": every loop ends, after at most maxSteps turns.
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

z3::expr respondsOneStepLate(const SymbolicState& st) {
  return st.done || hasError(st) || st.stepCounter > st.maxSteps || st.tokenBudget == 0 || st.timeBudget == 0;
}

constexpr auto atMaxSteps = [](Scene& scene, auto responds) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return implies(st.stepCounter >= st.maxSteps, responds(st));
};

z3::expr always(const SymbolicState& st) { return st.done.ctx().bool_val(true); }
z3::expr belowCap(const SymbolicState& st) { return st.stepCounter < S::cap(st.stepCounter.ctx()); }
z3::expr goesOn(const SymbolicState& st) { return !mustRespond(st); }
z3::expr goesOnWithoutCounting(const SymbolicState& st) { return !respondsOneStepLate(st); }

constexpr auto stepIncreases = [](Scene& scene, auto given) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return implies(given(st), incrementStep(st).stepCounter > st.stepCounter);
};

constexpr auto incrementDecreasesMeasure = [](Scene& scene, auto given) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return implies(given(st), remainingSteps(incrementStep(st)) < remainingSteps(st));
};

SymbolicStep idlingIsFree(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = reactStep<S>(action, tool, st);
  step.state = S::ite(S::is(action, ActionKind::noAction), st, step.state);
  return step;
}

constexpr auto stepDecreasesMeasure = [](Scene& scene, auto takeStep) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicStep step = takeStep(anyAction(scene), anyTool(scene), st);
  return implies(!mustRespond(st), remainingSteps(step.state) < remainingSteps(st));
};

SymbolicState failuresAreFree(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.stepCounter = S::ite(S::is(input.report.outcome, CallOutcome::failed), st.stepCounter, after.stepCounter);
  return after;
}

constexpr auto turnCostsOneStep = [](Scene& scene, auto turn) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicState after = turn(anyInput(scene), st);
  return implies(!mustRespond(st), remainingSteps(after) + 1 == remainingSteps(st));
};

constexpr auto nothingLeft = [](Scene& scene, auto responds) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return implies(remainingSteps(st) == 0, responds(st));
};

z3::expr closingErrorWithoutTime(const SymbolicState& st) {
  const z3::expr found = closingError(st);
  const z3::expr none = st.error.ctx().int_val(0);
  return z3::ite(S::is(found, ErrorKind::resourceExhausted) && !hasError(st) && st.tokenBudget > 0, none, found);
}

constexpr auto closingErrorIsComplete = [](Scene& scene, auto closing) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return mustRespond(st) == (st.done || !S::is(closing(st), ErrorKind::none));
};

constexpr Theorem kTheorems[] = {
    {"termination-by-max-steps", "at the step limit the agent must respond", about<atMaxSteps, mustRespond<S>>,
     "the limit is compared with >", about<atMaxSteps, respondsOneStepLate>},
    {"step-increases-after-increment", "an increment raises the step counter, below the largest number",
     about<stepIncreases, belowCap>, "at the largest number too", about<stepIncreases, always>},
    {"step-increases-while-going-on", "where the agent need not respond, an increment raises the step counter",
     about<stepIncreases, goesOn>, "the step limit is one late", about<stepIncreases, goesOnWithoutCounting>},
    {"remaining-steps-decreases-after-increment", "an increment lowers the measure while the agent goes on",
     about<incrementDecreasesMeasure, goesOn>, "at the step limit too", about<incrementDecreasesMeasure, always>},
    {"react-step-decreases-measure", "every step lowers the measure, whatever the action and the tool",
     about<stepDecreasesMeasure, reactStep<S>>, "no action costs no step", about<stepDecreasesMeasure, idlingIsFree>},
    {"turn-costs-one-step", "every turn lowers the measure by exactly one, whatever came of its call",
     about<turnCostsOneStep, takeTurn<S>>, "a failed call costs no step", about<turnCostsOneStep, failuresAreFree>},
    {"no-steps-left-must-respond", "when the measure is zero the agent must respond",
     about<nothingLeft, mustRespond<S>>, "the limit is compared with >", about<nothingLeft, respondsOneStepLate>},
    {"closing-error-complete", "the agent must respond exactly if it is done or there is an error to report",
     about<closingErrorIsComplete, closingError<S>>, "running out of time is not reported",
     about<closingErrorIsComplete, closingErrorWithoutTime>},
};

}  // namespace

std::span<const Theorem> terminationTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
