// Layers 2 and 3 of seed 002: how a state changes, and one step of the loop. Pure; O(1); every result is an agent state
// again.
#pragma once

#include "agents/decision/decisions.h"

namespace witan::agents::decision {

// increment-step
template <class L>
AgentState<L> incrementStep(const AgentState<L>& st) {
  AgentState<L> next = st;
  next.stepCounter = L::plus(st.stepCounter, L::like(st.stepCounter, 1));
  return next;
}

// deduct-tool-cost. Never below zero.
template <class L>
AgentState<L> deductToolCost(const ToolSpec<L>& tool, const AgentState<L>& st) {
  AgentState<L> next = st;
  next.tokenBudget = L::minus(st.tokenBudget, tool.tokenCost);
  next.timeBudget = L::minus(st.timeBudget, tool.timeCost);
  return next;
}

// update-satisfaction. The seed says 0 to 100 and keeps what it is given; here more than 100 is 100.
template <class L>
AgentState<L> updateSatisfaction(const typename L::Num& satisfaction, const AgentState<L>& st) {
  AgentState<L> next = st;
  next.satisfaction = smaller<L>(satisfaction, L::like(satisfaction, kFullySatisfied));
  return next;
}

// mark-done
template <class L>
AgentState<L> markDone(const AgentState<L>& st) {
  AgentState<L> next = st;
  next.done = L::like(st.done, true);
  return next;
}

// set-error
template <class L>
AgentState<L> setError(ErrorKind error, const AgentState<L>& st) {
  AgentState<L> next = st;
  next.error = L::like(st.error, error);
  return next;
}

template <class L>
struct Step {
  AgentState<L> state;
  typename L::Bool invoked;  // the tool may be called now, and its cost is paid

  WITAN_MEMBERS(Step, state, invoked)
  friend bool operator==(const Step&, const Step&) = default;
};

// react-step, exactly as the seed's implementation behaves (finding F10): the step counts first; a tool call that is
// permitted and affordable is paid, and may spend to exactly zero, after which mustRespond holds; one that is not costs
// its step and ends the agent with preconditionFailed; a final answer is done; no action is only a step. Satisfaction
// plays no part. The cost is the estimate; settle() charges what more it was.
//
// Requires: !mustRespond(st). Total all the same; guardedStep() asks.
template <class L>
Step<L> reactStep(const typename L::template Enum<ActionKind>& action, const ToolSpec<L>& tool,
                  const AgentState<L>& st) {
  const AgentState<L> counted = incrementStep(st);
  const typename L::Bool calls = L::is(action, ActionKind::toolCall);
  const typename L::Bool invoked = calls && canInvokeTool(tool, counted);
  const AgentState<L> afterCall =
      L::ite(invoked, deductToolCost(tool, counted), setError(ErrorKind::preconditionFailed, counted));
  const AgentState<L> afterOther = L::ite(L::is(action, ActionKind::finalAnswer), markDone(counted), counted);
  return {L::ite(calls, afterCall, afterOther), invoked};
}

// reactStep with its guard: where the agent must respond nothing happens and nothing is invoked.
template <class L>
Step<L> guardedStep(const typename L::template Enum<ActionKind>& action, const ToolSpec<L>& tool,
                    const AgentState<L>& st) {
  const typename L::Bool stopped = mustRespond(st);
  const Step<L> step = reactStep<L>(action, tool, st);
  return {L::ite(stopped, st, step.state), !stopped && step.invoked};
}

// What a call came to. `failed` is an answer that says no: the agent reads it and goes on. `broken` is no answer, or
// one beyond the bounds: the agent ends with toolError.
WITAN_ENUM(CallOutcome, none, succeeded, failed, broken)

// What is known only after the call.
template <class L>
struct CallReport {
  typename L::template Enum<CallOutcome> outcome;
  typename L::Num tokensSpent, secondsSpent;  // as measured

  WITAN_MEMBERS(CallReport, outcome, tokensSpent, secondsSpent)
  friend bool operator==(const CallReport&, const CallReport&) = default;
};

// Charges what a call has cost beyond its estimate. Nothing is ever given back: budgets only fall.
template <class L>
AgentState<L> settle(const ToolSpec<L>& charged, const CallReport<L>& report, const AgentState<L>& st) {
  ToolSpec<L> excess = charged;
  excess.tokenCost = L::minus(report.tokensSpent, charged.tokenCost);
  excess.timeCost = L::minus(report.secondsSpent, charged.timeCost);
  return deductToolCost(excess, st);
}

// After an invoked call: the rest of its cost, and the end if it broke.
template <class L>
AgentState<L> finishCall(const ToolSpec<L>& charged, const CallReport<L>& report, const AgentState<L>& st) {
  const AgentState<L> settled = settle(charged, report, st);
  return L::ite(L::is(report.outcome, CallOutcome::broken), setError(ErrorKind::toolError, settled), settled);
}

// Bounds of external-tool-call's axioms: a response is a list of fewer than 10,000 elements; and, ours, of so many
// bytes.
inline constexpr unsigned kResponseElements = 10'000;

template <class L>
struct ResponseSize {
  typename L::Num elements, bytes;

  WITAN_MEMBERS(ResponseSize, elements, bytes)
  friend bool operator==(const ResponseSize&, const ResponseSize&) = default;
};

template <class L>
typename L::Bool boundedResponse(const ResponseSize<L>& size, const typename L::Num& mostBytes) {
  return size.elements < L::like(size.elements, kResponseElements) && size.bytes <= mostBytes;
}

// The outcome that counts: an answer beyond the bounds is none.
template <class L>
typename L::template Enum<CallOutcome> outcomeWithin(const typename L::Num& mostBytes, const ResponseSize<L>& size,
                                                     const typename L::template Enum<CallOutcome>& outcome) {
  return L::ite(boundedResponse(size, mostBytes), outcome, L::like(outcome, CallOutcome::broken));
}

// The error to report when the agent must respond: its own, else what ran out; none if it is done or may go on.
template <class L>
typename L::template Enum<ErrorKind> closingError(const AgentState<L>& st) {
  const auto kind = [&](ErrorKind error) { return L::like(st.error, error); };
  const typename L::Bool stepsLeft = st.stepCounter < st.maxSteps;
  const auto exhausted =
      L::ite(stepsLeft, L::ite(mustRespond(st), kind(ErrorKind::resourceExhausted), kind(ErrorKind::none)),
             kind(ErrorKind::maxIterations));
  return L::ite(hasError(st), st.error, L::ite(st.done, kind(ErrorKind::none), exhausted));
}

// --- the audit trail (phase 3): every step with all that decided it, so that a replay gives the same states

// All that a step depends on beside the state before it.
template <class L>
struct StepInput {
  typename L::template Enum<ActionKind> action;
  ToolSpec<L> tool;              // of a tool call; as it was checked and charged
  CallReport<L> report;          // of an invoked call
  typename L::Num satisfaction;  // after the step

  WITAN_MEMBERS(StepInput, action, tool, report, satisfaction)
  friend bool operator==(const StepInput&, const StepInput&) = default;
};

// One whole turn: decide, call, settle, judge. Where the agent must respond nothing changes.
template <class L>
AgentState<L> takeTurn(const StepInput<L>& input, const AgentState<L>& st) {
  const Step<L> step = guardedStep<L>(input.action, input.tool, st);
  const AgentState<L> called = L::ite(step.invoked, finishCall(input.tool, input.report, step.state), step.state);
  return L::ite(mustRespond(st), st, updateSatisfaction<L>(input.satisfaction, called));
}

template <class L>
struct StepRecord {
  StepInput<L> input;
  typename L::Num step;      // the number of this step: the step counter after it
  typename L::Bool invoked;  // a tool was called

  WITAN_MEMBERS(StepRecord, input, step, invoked)
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

template <class L>
StepRecord<L> recordOf(const StepInput<L>& input, const AgentState<L>& st) {
  const Step<L> step = guardedStep<L>(input.action, input.tool, st);
  return {input, step.state.stepCounter, step.invoked};
}

// Could the record have been made in this state? If not, one is missing, doubled, moved or altered.
template <class L>
typename L::Bool recordFits(const StepRecord<L>& record, const AgentState<L>& st) {
  const StepRecord<L> made = recordOf(record.input, st);
  return !mustRespond(st) && record.step == made.step && record.invoked == made.invoked;
}

}  // namespace witan::agents::decision
