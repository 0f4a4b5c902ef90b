// Seed 002, phases 4 and 5: the choice of a tool respects the checks, and so does whatever was learnt.
#include "agents/decision/choice.h"
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

using SymbolicOffer = Offer<S>;
using SymbolicCandidate = Candidate<S>;

SymbolicOffer anyOffer(Scene& scene, const std::string& name = "offer") { return scene.anyOf<Offer>(name); }
SymbolicCandidate anyCandidate(Scene& scene) { return scene.anyOf<Candidate>("candidate"); }
SymbolicCandidate none(Scene& scene) {
  SymbolicCandidate candidate = anyCandidate(scene);
  candidate.found = scene.context().bool_val(false);
  return candidate;
}

// ---- the fold's step ----

SymbolicCandidate considerEvenForbidden(const SymbolicOffer& offer, const SymbolicState& st,
                                        const SymbolicCandidate& candidate) {
  SymbolicState granted = st;
  granted.fileAccess = offer.tool.requiredAccess;
  return consider(offer, granted, candidate);
}

// For registries of every size by induction: nothing is found at first; each step keeps it so.
constexpr auto selectionRespectsChecks = [](Scene& scene, auto step) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicCandidate before = anyCandidate(scene), after = step(anyOffer(scene), st, before);
  return implies(implies(before.found, eligible(before.best, st)), implies(after.found, eligible(after.best, st)));
};

SymbolicCandidate considerOnlyFirst(const SymbolicOffer& offer, const SymbolicState& st,
                                    const SymbolicCandidate& candidate) {
  return S::ite(candidate.found, candidate, consider(offer, st, candidate));
}

constexpr auto selectionIsBest = [](Scene& scene, auto step) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer offer = anyOffer(scene);
  const SymbolicCandidate before = anyCandidate(scene), after = step(offer, st, before);
  return implies(eligible(offer, st), after.found && !preferred(offer, after.best)) &&
         implies(before.found, after.found && !preferred(before.best, after.best));
};

SymbolicCandidate considerThePreferredAlone(const SymbolicOffer& offer, const SymbolicState& st,
                                            const SymbolicCandidate& candidate) {
  SymbolicCandidate next = consider(offer, st, candidate);
  next.found = next.found && offer.index == 0;
  return next;
}

// The first offer is preferred, but away or refused; the second may be had. And the other way round.
constexpr auto selectionFallsBack = [](Scene& scene, auto step) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer first = anyOffer(scene, "first"), second = anyOffer(scene, "second");
  const SymbolicCandidate one = step(second, st, step(first, st, none(scene)));
  const SymbolicCandidate other = step(first, st, step(second, st, none(scene)));
  const z3::expr given = preferred(first, second) && !eligible(first, st) && eligible(second, st);
  return implies(given, one.found && same(one.best, second) && other.found && same(other.best, second));
};

SymbolicCandidate considerTheLast(const SymbolicOffer& offer, const SymbolicState& st,
                                  const SymbolicCandidate& candidate) {
  const z3::expr takes = eligible(offer, st);
  return {candidate.found || takes, S::ite(takes, offer, candidate.best)};
}

constexpr auto selectionIgnoresOrder = [](Scene& scene, auto step) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer a = anyOffer(scene, "a"), b = anyOffer(scene, "b");
  const SymbolicCandidate ab = step(b, st, step(a, st, none(scene))), ba = step(a, st, step(b, st, none(scene)));
  const z3::expr differ = preferred(a, b) || preferred(b, a);
  return implies(differ, ab.found == ba.found && implies(ab.found, same(ab.best, ba.best)));
};

constexpr auto selectedIsInvoked = [](Scene& scene, auto step) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicCandidate found = step(anyOffer(scene), st, none(scene));
  const z3::expr call = scene.number(static_cast<unsigned>(ActionKind::toolCall));
  return implies(found.found && !mustRespond(st), guardedStep<S>(call, found.best.tool, st).invoked);
};

constexpr Theorem kSelection[] = {
    {"selection-respects-checks", "the chosen tool is available, suits, is permitted and affordable",
     about<selectionRespectsChecks, consider<S>>, "permission is not asked for",
     about<selectionRespectsChecks, considerEvenForbidden>},
    {"selection-is-best", "no eligible tool is preferred to the chosen one", about<selectionIsBest, consider<S>>,
     "the first eligible tool is kept", about<selectionIsBest, considerOnlyFirst>},
    {"selection-falls-back", "when the preferred tool is not eligible, the next one is chosen",
     about<selectionFallsBack, consider<S>>, "only the first tool is ever chosen",
     about<selectionFallsBack, considerThePreferredAlone>},
    {"selection-ignores-order", "tools that differ in score or cost are chosen alike in any order",
     about<selectionIgnoresOrder, consider<S>>, "the last eligible tool is chosen",
     about<selectionIgnoresOrder, considerTheLast>},
    {"selected-tool-is-invoked", "a chosen tool passes the check of the step that calls it",
     about<selectedIsInvoked, consider<S>>, "permission is not asked for",
     about<selectedIsInvoked, considerEvenForbidden>},
};

// ---- adaptation ----

using SymbolicEstimate = CostEstimate<S>;
SymbolicEstimate anyEstimate(Scene& scene, const std::string& name) { return scene.anyOf<CostEstimate>(name); }

SymbolicTool believeTheEstimate(const SymbolicTool& declared, const SymbolicEstimate& estimate) {
  SymbolicTool tool = declared;
  tool.tokenCost = estimate.tokens;
  tool.timeCost = estimate.seconds;
  return tool;
}

// The estimate is arbitrary, so this holds after any experience.
constexpr auto adaptationSafe = [](Scene& scene, auto adapt) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  return implies(canInvokeTool(tool, st), canInvokeTool(declared, st));
};

SymbolicTool trustTheProven(const SymbolicTool& declared, const SymbolicEstimate& estimate) {
  SymbolicTool tool = adapted(declared, estimate);
  tool.requiresExecute = declared.requiresExecute && estimate.tokens > 0;
  return tool;
}

constexpr auto adaptationKeepsPermissions = [](Scene& scene, auto adapt) -> z3::expr {
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  return tool.requiredAccess == declared.requiredAccess && tool.requiresExecute == declared.requiresExecute;
};

constexpr auto adaptationChargesMore = [](Scene& scene, auto adapt) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  const z3::expr call = scene.number(static_cast<unsigned>(ActionKind::toolCall));
  const SymbolicStep step = guardedStep<S>(call, tool, st), plain = guardedStep<S>(call, declared, st);
  return implies(step.invoked, plain.invoked && step.state.tokenBudget <= plain.state.tokenBudget &&
                                   step.state.timeBudget <= plain.state.timeBudget);
};

SymbolicEstimate sumUp(const SymbolicEstimate& observed, const SymbolicEstimate& estimate) {
  return {S::plus(observed.tokens, estimate.tokens), S::plus(observed.seconds, estimate.seconds)};
}

z3::expr between(const z3::expr& value, const z3::expr& a, const z3::expr& b) {
  return value >= smaller<S>(a, b) && value <= larger<S>(a, b);
}

constexpr auto estimateIsSound = [](Scene& scene, auto observe) -> z3::expr {
  const SymbolicEstimate seen = anyEstimate(scene, "seen"), before = anyEstimate(scene, "estimate");
  const SymbolicEstimate after = observe(seen, before);
  return between(after.tokens, seen.tokens, before.tokens) && between(after.seconds, seen.seconds, before.seconds) &&
         after.tokens >= seen.tokens && after.seconds >= seen.seconds;
};

z3::expr scoreByEighths(const z3::expr& success, const z3::expr& score) {
  const z3::expr eighth = S::like(score, kBestScore / 8);
  return S::ite(success, S::plus(score, eighth), S::minus(score, eighth));
}

constexpr auto scoreIsSound = [](Scene& scene, auto observe) -> z3::expr {
  const z3::expr score = scene.any<Natural>("score"), success = scene.any<bool>("success");
  const z3::expr next = observe(success, score);
  return implies(score <= static_cast<int>(kBestScore), isNatural(next) && next <= static_cast<int>(kBestScore) &&
                                                            z3::ite(success, next >= score, next <= score));
};

constexpr Theorem kAdaptation[] = {
    {"adaptation-never-loosens", "what may be invoked at its adapted cost may be at its declared cost",
     about<adaptationSafe, adapted<S>>, "a low estimate replaces the declared cost",
     about<adaptationSafe, believeTheEstimate>},
    {"adaptation-keeps-permissions", "an adapted tool requires the same permissions",
     about<adaptationKeepsPermissions, adapted<S>>, "a cheap tool may execute unasked",
     about<adaptationKeepsPermissions, trustTheProven>},
    {"adaptation-never-charges-less", "an adapted tool is charged at least its declared cost",
     about<adaptationChargesMore, adapted<S>>, "a low estimate replaces the declared cost",
     about<adaptationChargesMore, believeTheEstimate>},
    {"estimate-follows-observations", "an estimate is at least what was last seen, and within what was ever seen",
     about<estimateIsSound, observeCost<S>>, "observations are added up", about<estimateIsSound, sumUp>},
    {"effectiveness-bounded", "a score stays within 0 and 1000, and moves the way of the outcome",
     about<scoreIsSound, observeOutcome<S>>, "equal steps, not parts of what is left",
     about<scoreIsSound, scoreByEighths>},
};

}  // namespace

std::span<const Theorem> selectionTheorems() { return kSelection; }
std::span<const Theorem> adaptationTheorems() { return kAdaptation; }

}  // namespace witan::agents::proof
