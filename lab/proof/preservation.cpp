// Seed 002, "Preservation Theorems" and "State Partition", the latter as finding F9 corrects it.
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

// agent-state-p: every number natural, satisfaction at most 100, the error one of the list.
z3::expr wellFormed(const SymbolicState& st) {
  return isNatural(st.stepCounter) && isNatural(st.maxSteps) && isNatural(st.tokenBudget) && isNatural(st.timeBudget) &&
         isNatural(st.fileAccess) && isNatural(st.satisfaction) && isAgentState(st) && st.error >= 0 &&
         st.error < static_cast<int>(enumNames<ErrorKind>().size());
}

template <auto transition>
z3::expr preserved(Scene& scene) {
  return wellFormed(transition(scene, anyState(scene)));
}

constexpr Theorem kTheorems[] = {
    {"deduct-preserves-agent-state", "a deduction leaves an agent state",
     preserved<[](Scene& scene, auto st) { return deductToolCost(anyTool(scene), st); }>,
     "differences do not stop at zero", preserved<[](Scene& scene, auto st) {
       st.timeBudget = st.timeBudget - anyTool(scene).timeCost;
       return st;
     }>},
    {"increment-preserves-agent-state", "an increment leaves an agent state",
     preserved<[](Scene&, auto st) { return incrementStep(st); }>, "sums do not stop at the largest number",
     preserved<[](Scene&, auto st) {
       st.stepCounter = st.stepCounter + 1;
       return st;
     }>},
    {"update-satisfaction-preserves-agent-state", "any satisfaction leaves an agent state",
     preserved<[](Scene& scene, auto st) { return updateSatisfaction<S>(scene.any<Natural>("satisfaction"), st); }>,
     "kept as given, as the seed's code does", preserved<[](Scene& scene, auto st) {
       st.satisfaction = scene.any<Natural>("satisfaction");
       return st;
     }>},
    {"mark-done-preserves-agent-state", "being done leaves an agent state",
     preserved<[](Scene&, auto st) { return markDone(st); }>, "being done adds to satisfaction",
     preserved<[](Scene&, auto st) {
       st.satisfaction = S::plus(st.satisfaction, S::like(st.satisfaction, kFullySatisfied));
       return markDone(st);
     }>},
    {"set-error-preserves-agent-state", "every error leaves an agent state", preserved<[](Scene& scene, auto st) {
       SymbolicState all = st;
       for (std::size_t kind = 0; kind < enumNames<ErrorKind>().size(); ++kind)
         all = S::ite(scene.any<ErrorKind>("kind") == static_cast<int>(kind),
                      setError(static_cast<ErrorKind>(kind), st), all);
       return all;
     }>,
     "an error that is not of the list", preserved<[](Scene& scene, auto st) {
       st.error = scene.any<ErrorKind>("kind") + 1;
       return st;
     }>},
    {"react-step-preserves-agent-state", "every step leaves an agent state",
     preserved<[](Scene& scene, auto st) { return reactStep<S>(anyAction(scene), anyTool(scene), st).state; }>,
     "a refused call is paid below zero", preserved<[](Scene& scene, auto st) {
       const SymbolicTool tool = anyTool(scene);
       SymbolicState after = reactStep<S>(anyAction(scene), tool, st).state;
       after.tokenBudget = st.tokenBudget - tool.tokenCost;
       return after;
     }>},
    {"turn-preserves-agent-state", "every turn leaves an agent state, whatever its call has cost",
     preserved<[](Scene& scene, auto st) { return takeTurn(anyInput(scene), st); }>,
     "the excess is not stopped at zero", preserved<[](Scene& scene, auto st) {
       const SymbolicInput input = anyInput(scene);
       SymbolicState after = takeTurn(input, st);
       after.timeBudget = st.timeBudget - input.report.secondsSpent;
       return after;
     }>},
    {"continue-respond-partition", "must-respond, should-continue or satisfied: at least one (finding F9)",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       const z3::expr threshold = s.any<Natural>("threshold");
       return mustRespond(st) || shouldContinue<S>(st, threshold) || satisfied<S>(st, threshold);
     },
     "exactly one, as the seed's text has it",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       const z3::expr threshold = s.any<Natural>("threshold");
       const z3::expr must = mustRespond(st), should = shouldContinue<S>(st, threshold),
                      is = satisfied<S>(st, threshold);
       return (must && !should && !is) || (!must && should && !is) || (!must && !should && is);
     }},
    {"continue-respond-exclusive", "must-respond and should-continue exclude each other",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       return !(mustRespond(st) && shouldContinue<S>(st, s.any<Natural>("threshold")));
     },
     "should-continue asks for satisfaction alone",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       return !(mustRespond(st) && st.satisfaction < s.any<Natural>("threshold"));
     }},
    {"continue-satisfied-exclusive", "should-continue and satisfied exclude each other",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       const z3::expr threshold = s.any<Natural>("threshold");
       return !(shouldContinue<S>(st, threshold) && satisfied<S>(st, threshold));
     },
     "should-continue does not ask for satisfaction",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       return !(!mustRespond(st) && satisfied<S>(st, s.any<Natural>("threshold")));
     }},
    {"partition-overlap", "an agent that must respond may be satisfied (finding F9): there is such a state",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       return mustRespond(st) && satisfied<S>(st, s.any<Natural>("threshold"));
     },
     "one that must respond and should continue",
     [](Scene& s) {
       const SymbolicState st = anyState(s);
       return mustRespond(st) && shouldContinue<S>(st, s.any<Natural>("threshold"));
     },
     Expect::possible},
};

}  // namespace

std::span<const Theorem> preservationTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
