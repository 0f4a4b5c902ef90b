// Words that the claims share. For the theorem files of lab/proof/ alone.
#pragma once

#include "agents/decision/transitions.h"
#include "lab/proof/scene.h"
#include "lab/proof/theorem.h"

namespace witan::agents::proof {

using decision::ActionKind;
using decision::CallOutcome;
using decision::ErrorKind;
using S = Symbolic;
using SymbolicState = decision::AgentState<S>;
using SymbolicTool = decision::ToolSpec<S>;
using SymbolicStep = decision::Step<S>;
using SymbolicReport = decision::CallReport<S>;
using SymbolicInput = decision::StepInput<S>;

// An agent state by the seed's agent-state-p.
inline SymbolicState anyState(Scene& scene, const std::string& name = "state") {
  SymbolicState st = scene.anyOf<decision::AgentState>(name);
  scene.assume(isAgentState(st));
  return st;
}
inline SymbolicTool anyTool(Scene& scene, const std::string& name = "tool") {
  return scene.anyOf<decision::ToolSpec>(name);
}
inline z3::expr anyAction(Scene& scene) { return scene.any<ActionKind>("action"); }
inline SymbolicInput anyInput(Scene& scene, const std::string& name = "turn") {
  return scene.anyOf<decision::StepInput>(name);
}

inline z3::expr isNatural(const z3::expr& n) { return n >= 0 && n <= S::cap(n.ctx()); }

// A claim about one variant of the function that it is about: the one of the run time, or a broken twin.
template <auto claim, auto variant>
z3::expr about(Scene& scene) {
  return claim(scene, variant);
}

}  // namespace witan::agents::proof
