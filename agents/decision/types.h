// Layer 0 of seed 002: what an agent is to the decision logic, and what a tool asks for.
//
// Plain values. Names of the seed's Lisp in docs/GLOSSARY.md. Texts (reasons, queries, answers) decide nothing and
// stand in the action history (agents/decision/transitions.h).
#pragma once

#include "agents/decision/logic.h"
#include "base/reflect.h"

namespace witan::agents::decision {

// Why the agent stopped in error. The seed's texts of preconditionFailed and toolError are in the history.
WITAN_ENUM(ErrorKind, none, resourceExhausted, preconditionFailed, toolError, maxIterations)

WITAN_ENUM(ActionKind, toolCall, finalAnswer, noAction)

inline constexpr unsigned kFullySatisfied = 100;  // satisfaction, progress and confidence are percentages

template <class L>
struct ToolSpec {
  typename L::Num requiredAccess = 0;  // files: 0 none, 1 read, 2 write
  typename L::Bool requiresExecute = false;
  typename L::Num tokenCost = 0;  // tokens, estimated
  typename L::Num timeCost = 0;   // seconds, estimated

  WITAN_MEMBERS(ToolSpec, requiredAccess, requiresExecute, tokenCost, timeCost)
  friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};

template <class L>
struct AgentState {
  typename L::Num stepCounter = 0;
  typename L::Num maxSteps = 100;
  typename L::Num tokenBudget = 10000;  // tokens left
  typename L::Num timeBudget = 3600;    // seconds left
  typename L::Num fileAccess = 0;       // granted: 0 none, 1 read, 2 write
  typename L::Bool executeAllowed = false;
  typename L::Num satisfaction = 0;  // 0 to 100
  typename L::Bool done = false;
  typename L::template Enum<ErrorKind> error = ErrorKind::none;

  WITAN_MEMBERS(AgentState, stepCounter, maxSteps, tokenBudget, timeBudget, fileAccess, executeAllowed, satisfaction,
                done, error)
  friend bool operator==(const AgentState&, const AgentState&) = default;
};

using Tool = ToolSpec<RunTime>;
using State = AgentState<RunTime>;

// agent-state-p beyond its types: percentages are at most 100. (That numbers are natural, and the error is one of the
// list, is a matter of types at run time and of constraints in the proofs.)
template <class L>
typename L::Bool isAgentState(const AgentState<L>& st) {
  return st.satisfaction <= L::like(st.satisfaction, kFullySatisfied);
}

}  // namespace witan::agents::decision
