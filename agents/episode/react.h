// The verified decision logic (agents/decision/, seed 002) as an episode uses it. Pure functions, O(1).
//
// One turn in which the agent calls tools is one step of ReAct, whatever it calls; a final answer costs none. Two
// things differ from the seed's react-step: a refused call is told to the agent instead of ending the run, and when it
// must respond (budget spent, possibly to exactly zero: docs/FINDINGS.md, F10) it is called once more, for its answer.
#pragma once

#include "agents/decision/decisions.h"
#include "agents/episode/quota.h"
#include "agents/episode/tool.h"

namespace witan::agents::episode {

inline decision::Natural natural(std::int64_t value) {
  return decision::Natural(static_cast<std::uint64_t>(value < 0 ? 0 : value));
}

// Access: 1 to look, 2 to change something.
inline decision::Natural accessOf(ToolKind kind) { return natural(kind == ToolKind::action ? 2 : 1); }

// What a call asks for: its budget in tokens and seconds.
inline decision::Tool toolOf(const ToolInfo& tool, const Budget& cost) {
  return {accessOf(tool.kind), false, natural(cost.tokens), natural(cost.seconds)};
}

// The agent's state as the logic sees it; `access` is what the capability that covers the call gives.
inline decision::State stateOf(const Quota& quota, decision::Natural access = 0) {
  decision::State state;
  state.stepCounter = natural(quota.spent().steps);
  state.maxSteps = natural(quota.limit().steps);
  state.tokenBudget = natural(quota.remaining().tokens);
  state.timeBudget = natural(quota.remaining().seconds);
  state.fileAccess = access;
  return state;
}

}  // namespace witan::agents::episode
