// The audit trail (seed 002, phase 3): every step with all that decided it, so that a replay gives the same states.
//
// The rules are the templates; History keeps the records with their texts. A value. Not thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/decision/transitions.h"
#include "base/result.h"

namespace witan::agents::decision {

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

struct ActionRecord {
  StepRecord<RunTime> decided;
  std::string tool;         // its name
  std::string text;         // query or answer
  std::string observation;  // what came back, or why the tool was refused

  WITAN_MEMBERS(ActionRecord, decided, tool, text, observation)
  friend bool operator==(const ActionRecord&, const ActionRecord&) = default;
};

using History = std::vector<ActionRecord>;

// The state after all records. Errors: corrupt, naming the first record that does not fit. O(records).
Result<State> replay(const State& initial, std::span<const ActionRecord> history);

}  // namespace witan::agents::decision
