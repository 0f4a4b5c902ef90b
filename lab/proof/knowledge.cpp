// Seed 002, phase 2: facts only grow; a step comes nearer to its goal or has reached it.
#include "agents/decision/knowledge.h"
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

using SymbolicFact = Fact<S>;
using SymbolicFacts = Facts<S>;

struct Growth {
  SymbolicFacts before, after;
  SymbolicFact fact;
  FactLimits<S> limits;
  z3::expr added;
};

Growth grow(Scene& scene, auto add) {
  const FactLimits<S> limits = scene.anyOf<FactLimits>("limits");
  const SymbolicFacts before{scene.anyListOf<Fact>("facts"), scene.any<Natural>("facts.bytes")};
  Growth g{before, before, scene.anyOf<Fact>("fact"), limits, scene.context().bool_val(false)};
  g.added = add(g.fact, limits, g.after);
  return g;
}

// Is the fact at position i of both lists the same?
z3::expr sameAt(const z3::expr& i, const SymbolicFacts& a, const SymbolicFacts& b) {
  z3::expr all = i.ctx().bool_val(true);
  for (std::size_t c = 0; c < a.list.columns.size(); ++c)
    all = all && z3::select(a.list.columns[c], i) == z3::select(b.list.columns[c], i);
  return all;
}

// A full book makes room by writing over its oldest fact.
z3::expr evictOldest(const SymbolicFact& fact, const FactLimits<S>& limits, SymbolicFacts& facts) {
  const z3::expr full = facts.list.length >= limits.count;
  const z3::expr added = addFact(fact, limits, facts);
  z3::expr& contents = facts.list.columns.front();
  contents = z3::ite(full, z3::store(contents, full.ctx().int_val(0), fact.content), contents);
  return added;
}

constexpr auto factsMonotonic = [](Scene& scene, auto add) -> z3::expr {
  const Growth g = grow(scene, add);
  const z3::expr i = scene.any<Natural>("position");
  return g.after.list.length >= g.before.list.length && implies(i < g.before.list.length, sameAt(i, g.before, g.after));
};

z3::expr addTwice(const SymbolicFact& fact, const FactLimits<S>& limits, SymbolicFacts& facts) {
  return addFact(fact, limits, facts) && addFact(fact, limits, facts);
}

constexpr auto factsKept = [](Scene& scene, auto add) -> z3::expr {
  const Growth g = grow(scene, add);
  const z3::expr i = g.before.list.length;
  const z3::expr kept = z3::select(g.after.list.columns[0], i) == g.fact.content &&
                        z3::select(g.after.list.columns[1], i) == g.fact.source &&
                        z3::select(g.after.list.columns[2], i) == g.fact.confidence;
  return z3::ite(g.added, g.after.list.length == i + 1 && kept, g.after.list.length == i);
};

z3::expr addUnlimited(const SymbolicFact& fact, const FactLimits<S>& limits, SymbolicFacts& facts) {
  FactLimits<S> none = limits;
  none.bytes = S::cap(fact.content.ctx());
  return addFact(fact, none, facts);
}

constexpr auto factsLimited = [](Scene& scene, auto add) -> z3::expr {
  const Growth g = grow(scene, add);
  return implies(g.before.list.length <= g.limits.count && g.before.bytes <= g.limits.bytes,
                 g.after.list.length <= g.limits.count && g.after.bytes <= g.limits.bytes);
};

// ---- goals ----

using SymbolicGoal = Goal<S>;

SymbolicGoal anyGoal(Scene& scene, const std::string& name = "goal") {
  const SymbolicGoal goal = scene.anyOf<Goal>(name);
  scene.assume(goal.progress <= static_cast<int>(kFullySatisfied));
  return goal;
}

SymbolicGoal replaceProgress(const z3::expr& gained, const SymbolicGoal& goal) {
  return {smaller<S>(gained, S::like(gained, kFullySatisfied)), advanceGoal<S>(gained, goal).attempts};
}
SymbolicGoal forgetAttempt(const z3::expr& gained, const SymbolicGoal& goal) {
  return {advanceGoal<S>(gained, goal).progress, goal.attempts};
}

// "Either goal achieved or step taken toward it." A turn for a goal that has had at most one attempt a step.
constexpr auto goalProgress = [](Scene& scene, auto advance) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicGoal goal = anyGoal(scene);
  const SymbolicState after = takeTurn(anyInput(scene), st);
  const SymbolicGoal next = advance(scene.any<Natural>("gained"), goal);
  const z3::expr towards = next.attempts == goal.attempts + 1 && next.attempts <= after.stepCounter &&
                           remainingSteps(after) < remainingSteps(st);
  return implies(!mustRespond(st) && goal.attempts <= st.stepCounter, achieved(next) || towards);
};

constexpr auto goalNeverRegresses = [](Scene& scene, auto advance) -> z3::expr {
  const SymbolicGoal goal = anyGoal(scene);
  const z3::expr gained = scene.any<Natural>("gained");
  const SymbolicGoal next = advance(gained, goal);
  return next.progress >= goal.progress && next.progress <= 100 && implies(achieved(goal), achieved(next)) &&
         implies(gained > 0 && !achieved(goal), next.progress > goal.progress);
};

z3::expr largest(const z3::expr& satisfaction, const SymbolicGoal& goal) {
  return larger<S>(satisfaction, goal.progress);
}

constexpr auto satisfiedByAll = [](Scene& scene, auto fold) -> z3::expr {
  const SymbolicGoal goal = anyGoal(scene);
  const z3::expr before = scene.any<Natural>("satisfaction"), threshold = scene.any<Natural>("threshold");
  return (fold(before, goal) >= threshold) == (before >= threshold && goal.progress >= threshold);
};

constexpr Theorem kTheorems[] = {
    {"facts-monotonic", "adding a fact changes and removes none", about<factsMonotonic, addFact<S>>,
     "a full book writes over its oldest fact", about<factsMonotonic, evictOldest>},
    {"facts-kept", "a fact that was taken is the last of the list as given; one that was not adds nothing",
     about<factsKept, addFact<S>>, "added twice", about<factsKept, addTwice>},
    {"facts-limited", "facts within their limits stay within them", about<factsLimited, addFact<S>>,
     "bytes are not limited", about<factsLimited, addUnlimited>},
    {"goal-progress", "a turn for a goal achieves it or is one more attempt, and those are bounded",
     about<goalProgress, advanceGoal<S>>, "attempts are not counted", about<goalProgress, forgetAttempt>},
    {"goal-never-regresses", "progress is never lost, grows with what is gained, and stays a percentage",
     about<goalNeverRegresses, advanceGoal<S>>, "the last gain replaces the progress",
     about<goalNeverRegresses, replaceProgress>},
    {"satisfied-by-all-goals", "the agent is satisfied exactly if every goal has come so far",
     about<satisfiedByAll, alsoSatisfy<S>>, "the best goal counts", about<satisfiedByAll, largest>},
};

}  // namespace

std::span<const Theorem> knowledgeTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
