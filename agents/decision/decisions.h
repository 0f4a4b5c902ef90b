// Layer 1 of seed 002: the questions an agent asks before it acts. Pure; O(1).
#pragma once

#include "agents/decision/types.h"

namespace witan::agents::decision {

// tool-permitted-p: the agent was granted what the tool needs.
template <class L>
typename L::Bool toolPermitted(const ToolSpec<L>& tool, const AgentState<L>& st) {
  return tool.requiredAccess <= st.fileAccess && (!tool.requiresExecute || st.executeAllowed);
}

// tool-budget-sufficient-p. Spending to exactly zero is allowed (finding F10).
template <class L>
typename L::Bool toolBudgetSufficient(const ToolSpec<L>& tool, const AgentState<L>& st) {
  return tool.tokenCost <= st.tokenBudget && tool.timeCost <= st.timeBudget;
}

// can-invoke-tool-p
template <class L>
typename L::Bool canInvokeTool(const ToolSpec<L>& tool, const AgentState<L>& st) {
  return toolPermitted(tool, st) && toolBudgetSufficient(tool, st);
}

// has-error-p
template <class L>
typename L::Bool hasError(const AgentState<L>& st) {
  return !L::is(st.error, ErrorKind::none);
}

// must-respond-p: nothing is left but to answer.
template <class L>
typename L::Bool mustRespond(const AgentState<L>& st) {
  return st.done || hasError(st) || st.stepCounter >= st.maxSteps || st.tokenBudget == L::like(st.tokenBudget, 0) ||
         st.timeBudget == L::like(st.timeBudget, 0);
}

template <class L>
typename L::Bool satisfied(const AgentState<L>& st, const typename L::Num& threshold) {
  return st.satisfaction >= threshold;
}

// should-continue-p. At least one of mustRespond, shouldContinue and satisfied holds; the first two exclude each other;
// the first and the last do not (finding F9).
template <class L>
typename L::Bool shouldContinue(const AgentState<L>& st, const typename L::Num& threshold) {
  return !mustRespond(st) && st.satisfaction < threshold;
}

// remaining-steps: the measure of termination.
template <class L>
typename L::Num remainingSteps(const AgentState<L>& st) {
  return L::minus(st.maxSteps, st.stepCounter);
}

}  // namespace witan::agents::decision
