// Seed 002, "Safety Theorems", and what they leave open: that the effect comes after the check.
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

// ---- permission-safety, and its other half ----

constexpr auto permissionSafety = [](Scene& scene, auto canInvoke) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  return implies(canInvoke(tool, st), toolPermitted(tool, st));
};

constexpr auto affordability = [](Scene& scene, auto canInvoke) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  return implies(canInvoke(tool, st), tool.tokenCost <= st.tokenBudget && tool.timeCost <= st.timeBudget);
};

// ---- budget-bounds-after-deduct ----

SymbolicState deductBelowZero(const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicState next = st;
  next.tokenBudget = st.tokenBudget - tool.tokenCost;
  next.timeBudget = st.timeBudget - tool.timeCost;
  return next;
}

constexpr auto budgetBounds = [](Scene& scene, auto deduct) -> z3::expr {
  const SymbolicState next = deduct(anyTool(scene), anyState(scene));
  return isNatural(next.tokenBudget) && isNatural(next.timeBudget);
};

// ---- error-state-forces-must-respond ----

z3::expr respondsUnlessInError(const SymbolicState& st) {
  return st.done || st.stepCounter >= st.maxSteps || st.tokenBudget == 0 || st.timeBudget == 0;
}

constexpr auto errorForcesResponse = [](Scene& scene, auto responds) -> z3::expr {
  const SymbolicState st = anyState(scene);
  return implies(hasError(st), responds(st));
};

// ---- effects ----

SymbolicStep invokeThenCheck(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.invoked = S::is(action, ActionKind::toolCall) && !mustRespond(st);
  return step;
}

constexpr auto effectAfterCheck = [](Scene& scene, auto takeStep) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const z3::expr action = anyAction(scene);
  return implies(takeStep(action, tool, st).invoked,
                 S::is(action, ActionKind::toolCall) && !mustRespond(st) && canInvokeTool(tool, st));
};

SymbolicStep payThenCheck(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.state = S::ite(S::is(action, ActionKind::toolCall), deductToolCost(tool, step.state), step.state);
  return step;
}

constexpr auto paysExactlyForEffects = [](Scene& scene, auto takeStep) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicStep step = takeStep(anyAction(scene), tool, st);
  const z3::expr zero = scene.number(0);
  return step.state.tokenBudget == st.tokenBudget - z3::ite(step.invoked, tool.tokenCost, zero) &&
         step.state.timeBudget == st.timeBudget - z3::ite(step.invoked, tool.timeCost, zero);
};

SymbolicStep shrugAtRefusal(const z3::expr& action, const SymbolicTool& tool, const SymbolicState& st) {
  SymbolicStep step = guardedStep<S>(action, tool, st);
  step.state.error = st.error;
  return step;
}

// Finding F10: a refused call still costs a step, and ends the agent.
constexpr auto refusalHalts = [](Scene& scene, auto takeStep) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicState after = takeStep(scene.number(0), tool, st).state;  // action 0: a tool call
  return implies(!mustRespond(st) && !canInvokeTool(tool, st),
                 S::is(after.error, ErrorKind::preconditionFailed) && mustRespond(after) &&
                     after.stepCounter == st.stepCounter + 1 && after.tokenBudget == st.tokenBudget);
};

z3::expr respondsUnlessBroke(const SymbolicState& st) {
  return st.done || hasError(st) || st.stepCounter >= st.maxSteps;
}

// Finding F10: the last token may be spent, and then the agent must respond.
constexpr auto spendsToZero = [](Scene& scene, auto responds) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool tool = anyTool(scene);
  const SymbolicStep step = guardedStep<S>(scene.number(0), tool, st);
  return implies(
      !mustRespond(st) && toolPermitted(tool, st) && tool.tokenCost == st.tokenBudget && tool.timeCost <= st.timeBudget,
      step.invoked && step.state.tokenBudget == 0 && responds(step.state));
};

// ---- whole turns ----

SymbolicState refund(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.tokenBudget = z3::ite(guardedStep<S>(input.action, input.tool, st).invoked,
                              st.tokenBudget - input.report.tokensSpent, after.tokenBudget);
  return S::ite(input.report.tokensSpent <= st.tokenBudget, after, takeTurn(input, st));
}

constexpr auto budgetsNeverGrow = [](Scene& scene, auto turn) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicState paid = takeTurn(input, st), after = turn(input, st);
  const z3::expr charged = implies(guardedStep<S>(input.action, input.tool, st).invoked,
                                   after.tokenBudget <= st.tokenBudget - input.tool.tokenCost);
  return after.tokenBudget <= st.tokenBudget && after.timeBudget <= st.timeBudget && charged;
};

SymbolicState grantOnDemand(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicState after = takeTurn(input, st);
  after.fileAccess = larger<S>(st.fileAccess, input.tool.requiredAccess);
  return after;
}

constexpr auto permissionsNeverGrow = [](Scene& scene, auto turn) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicState after = turn(anyInput(scene), st);
  return after.fileAccess == st.fileAccess && after.executeAllowed == st.executeAllowed &&
         after.maxSteps == st.maxSteps;
};

constexpr auto stoppedStaysStopped = [](Scene& scene, auto takeStep) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicStep step = takeStep(anyAction(scene), anyTool(scene), st);
  return implies(mustRespond(st), same(step.state, st) && !step.invoked);
};

// ---- bounded responses ----

z3::expr outcomeByBytesAlone(const z3::expr& most, const ResponseSize<S>& size, const z3::expr& outcome) {
  return S::ite(size.bytes <= most, outcome, S::like(outcome, CallOutcome::broken));
}
z3::expr outcomeAsReported(const z3::expr&, const ResponseSize<S>&, const z3::expr& outcome) { return outcome; }

constexpr auto responsesAreBounded = [](Scene& scene, auto judge) -> z3::expr {
  const ResponseSize<S> size = scene.anyOf<ResponseSize>("response");
  const z3::expr most = scene.any<Natural>("mostBytes");
  const z3::expr outcome = judge(most, size, scene.any<CallOutcome>("outcome"));
  return implies(!S::is(outcome, CallOutcome::broken), size.elements < 10'000 && size.bytes <= most);
};

constexpr auto excessEnds = [](Scene& scene, auto judge) -> z3::expr {
  const SymbolicState st = anyState(scene);
  SymbolicInput input = anyInput(scene);
  const ResponseSize<S> size = scene.anyOf<ResponseSize>("response");
  const z3::expr most = scene.any<Natural>("mostBytes");
  input.report.outcome = judge(most, size, input.report.outcome);
  const SymbolicState after = takeTurn(input, st);
  return implies(guardedStep<S>(input.action, input.tool, st).invoked && !boundedResponse(size, most),
                 S::is(after.error, ErrorKind::toolError) && mustRespond(after));
};

constexpr Theorem kTheorems[] = {
    {"permission-safety", "a tool that can be invoked is permitted", about<permissionSafety, canInvokeTool<S>>,
     "affordable is enough", about<permissionSafety, toolBudgetSufficient<S>>},
    {"budget-safety", "a tool that can be invoked is affordable", about<affordability, canInvokeTool<S>>,
     "permitted is enough", about<affordability, toolPermitted<S>>},
    {"budget-bounds-after-deduct", "budgets are natural numbers after a deduction",
     about<budgetBounds, deductToolCost<S>>, "differences do not stop at zero", about<budgetBounds, deductBelowZero>},
    {"error-state-forces-must-respond", "an agent in error must respond", about<errorForcesResponse, mustRespond<S>>,
     "errors are not asked for", about<errorForcesResponse, respondsUnlessInError>},
    {"effect-only-after-check", "a tool is invoked only in a call that the checks of this state allow",
     about<effectAfterCheck, guardedStep<S>>, "invoked first, checked afterwards",
     about<effectAfterCheck, invokeThenCheck>},
    {"payment-only-for-effects", "budgets fall by the tool's cost if it is invoked, else by nothing",
     about<paysExactlyForEffects, guardedStep<S>>, "paid first, checked afterwards",
     about<paysExactlyForEffects, payThenCheck>},
    {"refused-call-halts", "a refused call costs its step and no budget, and ends with preconditionFailed",
     about<refusalHalts, guardedStep<S>>, "a refusal leaves no error", about<refusalHalts, shrugAtRefusal>},
    {"spends-to-zero", "the last token may be spent, and then the agent must respond",
     about<spendsToZero, mustRespond<S>>, "empty budgets are not asked for", about<spendsToZero, respondsUnlessBroke>},
    {"budgets-never-grow", "no turn raises a budget, and an invoked tool costs at least its estimate",
     about<budgetsNeverGrow, takeTurn<S>>, "what a call did not use is given back", about<budgetsNeverGrow, refund>},
    {"permissions-never-grow", "no turn changes permissions or the step limit",
     about<permissionsNeverGrow, takeTurn<S>>, "a tool is granted what it requires",
     about<permissionsNeverGrow, grantOnDemand>},
    {"must-respond-stops", "where the agent must respond nothing changes and nothing is invoked",
     about<stoppedStaysStopped, guardedStep<S>>, "the step without its guard",
     about<stoppedStaysStopped, reactStep<S>>},
    {"external-tool-call-bounded", "an answer that counts has fewer than 10,000 elements and is within the bytes",
     about<responsesAreBounded, outcomeWithin<S>>, "elements are not counted",
     about<responsesAreBounded, outcomeByBytesAlone>},
    {"oversized-response-ends", "an answer beyond the bounds ends the agent with toolError",
     about<excessEnds, outcomeWithin<S>>, "outcomes are taken as reported", about<excessEnds, outcomeAsReported>},
};

}  // namespace

std::span<const Theorem> safetyTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
