// Seed 002, "Safety Theorems", and what they leave open: that the effect comes after the check.
#include <array>

#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

// ---- permission-safety, and its other half ----

z3::expr permissionSafety(Scene& scene, auto canInvoke) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  return implies(canInvoke(tool, st), toolPermitted(tool, st));
}

z3::expr affordability(Scene& scene, auto canInvoke) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  return implies(canInvoke(tool, st), tool.tokenCost <= st.tokenBudget && tool.timeCost <= st.timeBudget);
}

// ---- budget-bounds-after-deduct ----

SymbolicState deductBelowZero(const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicState next = st;
  next.tokenBudget = st.tokenBudget - tool.tokenCost;
  next.timeBudget = st.timeBudget - tool.timeCost;
  return next;
}

z3::expr budgetBounds(Scene& scene, auto deduct) {
  const SymbolicState next = deduct(anyTool(scene), anyState(scene));
  return isNatural(next.tokenBudget) && isNatural(next.timeBudget);
}

// ---- error-state-forces-must-respond ----

z3::expr respondsUnlessInError(const SymbolicState& st) {
  return st.done || st.stepCounter >= st.maxSteps || st.tokenBudget == 0 || st.timeBudget == 0;
}

z3::expr errorForcesResponse(Scene& scene, auto responds) {
  const SymbolicState st = anyState(scene);
  return implies(hasError(st), responds(st));
}

// ---- effects ----

SymbolicStep invokeThenCheck(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.invoked = S::is(action, ActionKind::toolCall) && !mustRespond(st);
  return step;
}

z3::expr effectAfterCheck(Scene& scene, auto takeStep) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const z3::expr action = anyAction(scene);
  return implies(takeStep(action, tool, st).invoked,
                 S::is(action, ActionKind::toolCall) && !mustRespond(st) && canInvokeTool(tool, st));
}

SymbolicStep payThenCheck(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.state = S::ite(S::is(action, ActionKind::toolCall), deductToolCost(tool, step.state), step.state);
  return step;
}

z3::expr paysExactlyForEffects(Scene& scene, auto takeStep) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicStep step = takeStep(anyAction(scene), tool, st);
  const z3::expr zero = scene.number(0);
  return step.state.tokenBudget == st.tokenBudget - z3::ite(step.invoked, tool.tokenCost, zero) &&
         step.state.timeBudget == st.timeBudget - z3::ite(step.invoked, tool.timeCost, zero);
}

SymbolicStep shrugAtRefusal(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.state.error = st.error;
  return step;
}

// Finding F10: a refused call still costs a step, and ends the agent.
z3::expr refusalHalts(Scene& scene, auto takeStep) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicState after = takeStep(scene.number(0), tool, st).state;  // action 0: a tool call
  return implies(!mustRespond(st) && !canInvokeTool(tool, st),
                 S::is(after.error, ErrorKind::preconditionFailed) && mustRespond(after) &&
                     after.stepCounter == st.stepCounter + 1 && after.tokenBudget == st.tokenBudget);
}

z3::expr respondsUnlessBroke(const SymbolicState& st) {
  return st.done || hasError(st) || st.stepCounter >= st.maxSteps;
}

// Finding F10: the last token may be spent, and then the agent must respond.
z3::expr spendsToZero(Scene& scene, auto responds) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicStep step = guardedStep<S>(scene.number(0), tool, st);
  return implies(
      !mustRespond(st) && toolPermitted(tool, st) && tool.tokenCost == st.tokenBudget && tool.timeCost <= st.timeBudget,
      step.invoked && step.state.tokenBudget == 0 && responds(step.state));
}

// ---- whole turns ----

SymbolicState refund(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.tokenBudget = z3::ite(guardedStep<S>(input.action, input.tool, st).invoked,
                              st.tokenBudget - input.report.tokensSpent, after.tokenBudget);
  return S::ite(input.report.tokensSpent <= st.tokenBudget, after, takeTurn(input, st));
}

z3::expr budgetsNeverGrow(Scene& scene, auto turn) {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicState paid = takeTurn(input, st), after = turn(input, st);
  const z3::expr charged = implies(guardedStep<S>(input.action, input.tool, st).invoked,
                                   after.tokenBudget <= st.tokenBudget - input.tool.tokenCost);
  return after.tokenBudget <= st.tokenBudget && after.timeBudget <= st.timeBudget && charged;
}

SymbolicState grantOnDemand(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.fileAccess = larger<S>(st.fileAccess, input.tool.requiredAccess);
  return after;
}

z3::expr permissionsNeverGrow(Scene& scene, auto turn) {
  const SymbolicState st = anyState(scene);
  const SymbolicState after = turn(anyInput(scene), st);
  return after.fileAccess == st.fileAccess && after.executeAllowed == st.executeAllowed &&
         after.maxSteps == st.maxSteps;
}

z3::expr stoppedStaysStopped(Scene& scene, auto takeStep) {
  const SymbolicState st = anyState(scene);
  const SymbolicStep step = takeStep(anyAction(scene), anyTool(scene), st);
  return implies(mustRespond(st), same(step.state, st) && !step.invoked);
}

// ---- bounded responses ----

z3::expr outcomeByBytesAlone(const z3::expr& most, const ResponseSize<S>& size, const z3::expr& outcome) {
  return S::ite(size.bytes <= most, outcome, S::like(outcome, CallOutcome::broken));
}
z3::expr outcomeAsReported(const z3::expr&, const ResponseSize<S>&, const z3::expr& outcome) { return outcome; }

z3::expr responsesAreBounded(Scene& scene, auto judge) {
  const ResponseSize<S> size = scene.anyOf<ResponseSize>("response");
  const z3::expr most = scene.any<Natural>("mostBytes");
  const z3::expr outcome = judge(most, size, scene.any<CallOutcome>("outcome"));
  return implies(!S::is(outcome, CallOutcome::broken), size.elements < 10'000 && size.bytes <= most);
}

z3::expr excessEnds(Scene& scene, auto judge) {
  const SymbolicState st = anyState(scene);
  SymbolicInput input = anyInput(scene);
  const ResponseSize<S> size = scene.anyOf<ResponseSize>("response");
  const z3::expr most = scene.any<Natural>("mostBytes");
  input.report.outcome = judge(most, size, input.report.outcome);
  const SymbolicState after = takeTurn(input, st);
  return implies(guardedStep<S>(input.action, input.tool, st).invoked && !boundedResponse(size, most),
                 S::is(after.error, ErrorKind::toolError) && mustRespond(after));
}

constexpr std::array kTheorems{
    Theorem{"permission-safety", "a tool that can be invoked is permitted",
            [](Scene& s) { return permissionSafety(s, canInvokeTool<S>); }, "affordable is enough",
            [](Scene& s) { return permissionSafety(s, toolBudgetSufficient<S>); }},
    Theorem{"budget-safety", "a tool that can be invoked is affordable",
            [](Scene& s) { return affordability(s, canInvokeTool<S>); }, "permitted is enough",
            [](Scene& s) { return affordability(s, toolPermitted<S>); }},
    Theorem{"budget-bounds-after-deduct", "budgets are natural numbers after a deduction",
            [](Scene& s) { return budgetBounds(s, deductToolCost<S>); }, "differences do not stop at zero",
            [](Scene& s) { return budgetBounds(s, deductBelowZero); }},
    Theorem{"error-state-forces-must-respond", "an agent in error must respond",
            [](Scene& s) { return errorForcesResponse(s, mustRespond<S>); }, "errors are not asked for",
            [](Scene& s) { return errorForcesResponse(s, respondsUnlessInError); }},
    Theorem{"effect-only-after-check", "a tool is invoked only in a call that the checks of this state allow",
            [](Scene& s) { return effectAfterCheck(s, guardedStep<S>); }, "invoked first, checked afterwards",
            [](Scene& s) { return effectAfterCheck(s, invokeThenCheck); }},
    Theorem{"payment-only-for-effects", "budgets fall by the tool's cost if it is invoked, else by nothing",
            [](Scene& s) { return paysExactlyForEffects(s, guardedStep<S>); }, "paid first, checked afterwards",
            [](Scene& s) { return paysExactlyForEffects(s, payThenCheck); }},
    Theorem{"refused-call-halts", "a refused call costs its step and no budget, and ends with preconditionFailed",
            [](Scene& s) { return refusalHalts(s, guardedStep<S>); }, "a refusal leaves no error",
            [](Scene& s) { return refusalHalts(s, shrugAtRefusal); }},
    Theorem{"spends-to-zero", "the last token may be spent, and then the agent must respond",
            [](Scene& s) { return spendsToZero(s, mustRespond<S>); }, "empty budgets are not asked for",
            [](Scene& s) { return spendsToZero(s, respondsUnlessBroke); }},
    Theorem{"budgets-never-grow", "no turn raises a budget, and an invoked tool costs at least its estimate",
            [](Scene& s) { return budgetsNeverGrow(s, takeTurn<S>); }, "what a call did not use is given back",
            [](Scene& s) { return budgetsNeverGrow(s, refund); }},
    Theorem{"permissions-never-grow", "no turn changes permissions or the step limit",
            [](Scene& s) { return permissionsNeverGrow(s, takeTurn<S>); }, "a tool is granted what it requires",
            [](Scene& s) { return permissionsNeverGrow(s, grantOnDemand); }},
    Theorem{"must-respond-stops", "where the agent must respond nothing changes and nothing is invoked",
            [](Scene& s) { return stoppedStaysStopped(s, guardedStep<S>); }, "the step without its guard",
            [](Scene& s) { return stoppedStaysStopped(s, reactStep<S>); }},
    Theorem{"external-tool-call-bounded",
            "an answer that counts has fewer than 10,000 elements and is within the bytes",
            [](Scene& s) { return responsesAreBounded(s, outcomeWithin<S>); }, "elements are not counted",
            [](Scene& s) { return responsesAreBounded(s, outcomeByBytesAlone); }},
    Theorem{"oversized-response-ends", "an answer beyond the bounds ends the agent with toolError",
            [](Scene& s) { return excessEnds(s, outcomeWithin<S>); }, "outcomes are taken as reported",
            [](Scene& s) { return excessEnds(s, outcomeAsReported); }},
};

}  // namespace

std::span<const Theorem> safetyTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
