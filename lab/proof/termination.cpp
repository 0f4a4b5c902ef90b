// Seed 002, "Termination Theorems": every loop ends, after at most maxSteps turns.
#include <array>

#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

z3::expr respondsOneStepLate(const SymbolicState& st) {
  return st.done || hasError(st) || st.stepCounter > st.maxSteps || st.tokenBudget == 0 || st.timeBudget == 0;
}

z3::expr atMaxSteps(Scene& scene, auto responds) {
  const SymbolicState st = anyState(scene);
  return implies(st.stepCounter >= st.maxSteps, responds(st));
}

z3::expr always(const SymbolicState& st) { return st.done.ctx().bool_val(true); }
z3::expr belowCap(const SymbolicState& st) { return st.stepCounter < S::cap(st.stepCounter.ctx()); }
z3::expr goesOn(const SymbolicState& st) { return !mustRespond(st); }
z3::expr goesOnWithoutCounting(const SymbolicState& st) { return !respondsOneStepLate(st); }

z3::expr stepIncreases(Scene& scene, auto given) {
  const SymbolicState st = anyState(scene);
  return implies(given(st), incrementStep(st).stepCounter > st.stepCounter);
}

z3::expr incrementDecreasesMeasure(Scene& scene, auto given) {
  const SymbolicState st = anyState(scene);
  return implies(given(st), remainingSteps(incrementStep(st)) < remainingSteps(st));
}

SymbolicStep idlingIsFree(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = reactStep<S>(action, tool, st);
  step.state = S::ite(S::is(action, ActionKind::noAction), st, step.state);
  return step;
}

z3::expr stepDecreasesMeasure(Scene& scene, auto takeStep) {
  const SymbolicState st = anyState(scene);
  const SymbolicStep step = takeStep(anyAction(scene), anyTool(scene), st);
  return implies(!mustRespond(st), remainingSteps(step.state) < remainingSteps(st));
}

SymbolicState failuresAreFree(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.stepCounter = S::ite(S::is(input.report.outcome, CallOutcome::failed), st.stepCounter, after.stepCounter);
  return after;
}

z3::expr turnCostsOneStep(Scene& scene, auto turn) {
  const SymbolicState st = anyState(scene);
  const SymbolicState after = turn(anyInput(scene), st);
  return implies(!mustRespond(st), remainingSteps(after) + 1 == remainingSteps(st));
}

z3::expr nothingLeft(Scene& scene, auto responds) {
  const SymbolicState st = anyState(scene);
  return implies(remainingSteps(st) == 0, responds(st));
}

z3::expr closingErrorWithoutTime(const SymbolicState& st) {
  const z3::expr found = closingError(st);
  const z3::expr none = st.error.ctx().int_val(0);
  return z3::ite(S::is(found, ErrorKind::resourceExhausted) && !hasError(st) && st.tokenBudget > 0, none, found);
}

z3::expr closingErrorIsComplete(Scene& scene, auto closing) {
  const SymbolicState st = anyState(scene);
  return mustRespond(st) == (st.done || !S::is(closing(st), ErrorKind::none));
}

constexpr std::array kTheorems{
    Theorem{"termination-by-max-steps", "at the step limit the agent must respond",
            [](Scene& s) { return atMaxSteps(s, mustRespond<S>); }, "the limit is compared with >",
            [](Scene& s) { return atMaxSteps(s, respondsOneStepLate); }},
    Theorem{"step-increases-after-increment", "an increment raises the step counter, below the largest number",
            [](Scene& s) { return stepIncreases(s, belowCap); }, "at the largest number too",
            [](Scene& s) { return stepIncreases(s, always); }},
    Theorem{"step-increases-while-going-on", "where the agent need not respond, an increment raises the step counter",
            [](Scene& s) { return stepIncreases(s, goesOn); }, "the step limit is one late",
            [](Scene& s) { return stepIncreases(s, goesOnWithoutCounting); }},
    Theorem{"remaining-steps-decreases-after-increment", "an increment lowers the measure while the agent goes on",
            [](Scene& s) { return incrementDecreasesMeasure(s, goesOn); }, "at the step limit too",
            [](Scene& s) { return incrementDecreasesMeasure(s, always); }},
    Theorem{"react-step-decreases-measure", "every step lowers the measure, whatever the action and the tool",
            [](Scene& s) { return stepDecreasesMeasure(s, reactStep<S>); }, "no action costs no step",
            [](Scene& s) { return stepDecreasesMeasure(s, idlingIsFree); }},
    Theorem{"turn-costs-one-step", "every turn lowers the measure by exactly one, whatever came of its call",
            [](Scene& s) { return turnCostsOneStep(s, takeTurn<S>); }, "a failed call costs no step",
            [](Scene& s) { return turnCostsOneStep(s, failuresAreFree); }},
    Theorem{"no-steps-left-must-respond", "when the measure is zero the agent must respond",
            [](Scene& s) { return nothingLeft(s, mustRespond<S>); }, "the limit is compared with >",
            [](Scene& s) { return nothingLeft(s, respondsOneStepLate); }},
    Theorem{"closing-error-complete", "the agent must respond exactly if it is done or there is an error to report",
            [](Scene& s) { return closingErrorIsComplete(s, closingError<S>); }, "running out of time is not reported",
            [](Scene& s) { return closingErrorIsComplete(s, closingErrorWithoutTime); }},
};

}  // namespace

std::span<const Theorem> terminationTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
