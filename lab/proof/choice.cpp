// Seed 002, phases 4 and 5: the choice of a tool respects the checks, and so does whatever was learnt.
#include <array>

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
z3::expr selectionRespectsChecks(Scene& scene, auto step) {
  const SymbolicState st = anyState(scene);
  const SymbolicCandidate before = anyCandidate(scene), after = step(anyOffer(scene), st, before);
  return implies(implies(before.found, eligible(before.best, st)), implies(after.found, eligible(after.best, st)));
}

SymbolicCandidate considerOnlyFirst(const SymbolicOffer& offer, const SymbolicState& st,
                                    const SymbolicCandidate& candidate) {
  return S::ite(candidate.found, candidate, consider(offer, st, candidate));
}

z3::expr selectionIsBest(Scene& scene, auto step) {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer offer = anyOffer(scene);
  const SymbolicCandidate before = anyCandidate(scene), after = step(offer, st, before);
  return implies(eligible(offer, st), after.found && !preferred(offer, after.best)) &&
         implies(before.found, after.found && !preferred(before.best, after.best));
}

SymbolicCandidate considerThePreferredAlone(const SymbolicOffer& offer, const SymbolicState& st,
                                            const SymbolicCandidate& candidate) {
  SymbolicCandidate next = consider(offer, st, candidate);
  next.found = next.found && offer.index == 0;
  return next;
}

// The first offer is preferred, but away or refused; the second may be had. And the other way round.
z3::expr selectionFallsBack(Scene& scene, auto step) {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer first = anyOffer(scene, "first"), second = anyOffer(scene, "second");
  const SymbolicCandidate one = step(second, st, step(first, st, none(scene)));
  const SymbolicCandidate other = step(first, st, step(second, st, none(scene)));
  const z3::expr given = preferred(first, second) && !eligible(first, st) && eligible(second, st);
  return implies(given, one.found && same(one.best, second) && other.found && same(other.best, second));
}

SymbolicCandidate considerTheLast(const SymbolicOffer& offer, const SymbolicState& st,
                                  const SymbolicCandidate& candidate) {
  const z3::expr takes = eligible(offer, st);
  return {candidate.found || takes, S::ite(takes, offer, candidate.best)};
}

z3::expr selectionIgnoresOrder(Scene& scene, auto step) {
  const SymbolicState st = anyState(scene);
  const SymbolicOffer a = anyOffer(scene, "a"), b = anyOffer(scene, "b");
  const SymbolicCandidate ab = step(b, st, step(a, st, none(scene))), ba = step(a, st, step(b, st, none(scene)));
  const z3::expr differ = preferred(a, b) || preferred(b, a);
  return implies(differ, ab.found == ba.found && implies(ab.found, same(ab.best, ba.best)));
}

z3::expr selectedIsInvoked(Scene& scene, auto step) {
  const SymbolicState st = anyState(scene);
  const SymbolicCandidate found = step(anyOffer(scene), st, none(scene));
  const z3::expr call = scene.number(static_cast<unsigned>(ActionKind::toolCall));
  return implies(found.found && !mustRespond(st), guardedStep<S>(call, found.best.tool, st).invoked);
}

constexpr std::array kSelection{
    Theorem{"selection-respects-checks", "the chosen tool is available, suits, is permitted and affordable",
            [](Scene& s) { return selectionRespectsChecks(s, consider<S>); }, "permission is not asked for",
            [](Scene& s) { return selectionRespectsChecks(s, considerEvenForbidden); }},
    Theorem{"selection-is-best", "no eligible tool is preferred to the chosen one",
            [](Scene& s) { return selectionIsBest(s, consider<S>); }, "the first eligible tool is kept",
            [](Scene& s) { return selectionIsBest(s, considerOnlyFirst); }},
    Theorem{"selection-falls-back", "when the preferred tool is not eligible, the next one is chosen",
            [](Scene& s) { return selectionFallsBack(s, consider<S>); }, "only the first tool is ever chosen",
            [](Scene& s) { return selectionFallsBack(s, considerThePreferredAlone); }},
    Theorem{"selection-ignores-order", "tools that differ in score or cost are chosen alike in any order",
            [](Scene& s) { return selectionIgnoresOrder(s, consider<S>); }, "the last eligible tool is chosen",
            [](Scene& s) { return selectionIgnoresOrder(s, considerTheLast); }},
    Theorem{"selected-tool-is-invoked", "a chosen tool passes the check of the step that calls it",
            [](Scene& s) { return selectedIsInvoked(s, consider<S>); }, "permission is not asked for",
            [](Scene& s) { return selectedIsInvoked(s, considerEvenForbidden); }},
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
z3::expr adaptationSafe(Scene& scene, auto adapt) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  return implies(canInvokeTool(tool, st), canInvokeTool(declared, st));
}

SymbolicTool trustTheProven(const SymbolicTool& declared, const SymbolicEstimate& estimate) {
  SymbolicTool tool = adapted(declared, estimate);
  tool.requiresExecute = declared.requiresExecute && estimate.tokens > 0;
  return tool;
}

z3::expr adaptationKeepsPermissions(Scene& scene, auto adapt) {
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  return tool.requiredAccess == declared.requiredAccess && tool.requiresExecute == declared.requiresExecute;
}

z3::expr adaptationChargesMore(Scene& scene, auto adapt) {
  const SymbolicState st = anyState(scene);
  const SymbolicTool declared = anyTool(scene);
  const SymbolicTool tool = adapt(declared, anyEstimate(scene, "estimate"));
  const z3::expr call = scene.number(static_cast<unsigned>(ActionKind::toolCall));
  const SymbolicStep step = guardedStep<S>(call, tool, st), plain = guardedStep<S>(call, declared, st);
  return implies(step.invoked, plain.invoked && step.state.tokenBudget <= plain.state.tokenBudget &&
                                   step.state.timeBudget <= plain.state.timeBudget);
}

SymbolicEstimate sumUp(const SymbolicEstimate& observed, const SymbolicEstimate& estimate) {
  return {S::plus(observed.tokens, estimate.tokens), S::plus(observed.seconds, estimate.seconds)};
}

z3::expr between(const z3::expr& value, const z3::expr& a, const z3::expr& b) {
  return value >= smaller<S>(a, b) && value <= larger<S>(a, b);
}

z3::expr estimateIsSound(Scene& scene, auto observe) {
  const SymbolicEstimate seen = anyEstimate(scene, "seen"), before = anyEstimate(scene, "estimate");
  const SymbolicEstimate after = observe(seen, before);
  return between(after.tokens, seen.tokens, before.tokens) && between(after.seconds, seen.seconds, before.seconds) &&
         after.tokens >= seen.tokens && after.seconds >= seen.seconds;
}

z3::expr scoreByEighths(const z3::expr& success, const z3::expr& score) {
  const z3::expr eighth = S::like(score, kBestScore / 8);
  return S::ite(success, S::plus(score, eighth), S::minus(score, eighth));
}

z3::expr scoreIsSound(Scene& scene, auto observe) {
  const z3::expr score = scene.any<Natural>("score"), success = scene.any<bool>("success");
  const z3::expr next = observe(success, score);
  return implies(score <= static_cast<int>(kBestScore), isNatural(next) && next <= static_cast<int>(kBestScore) &&
                                                            z3::ite(success, next >= score, next <= score));
}

constexpr std::array kAdaptation{
    Theorem{"adaptation-never-loosens", "what may be invoked at its adapted cost may be at its declared cost",
            [](Scene& s) { return adaptationSafe(s, adapted<S>); }, "a low estimate replaces the declared cost",
            [](Scene& s) { return adaptationSafe(s, believeTheEstimate); }},
    Theorem{"adaptation-keeps-permissions", "an adapted tool requires the same permissions",
            [](Scene& s) { return adaptationKeepsPermissions(s, adapted<S>); }, "a cheap tool may execute unasked",
            [](Scene& s) { return adaptationKeepsPermissions(s, trustTheProven); }},
    Theorem{"adaptation-never-charges-less", "an adapted tool is charged at least its declared cost",
            [](Scene& s) { return adaptationChargesMore(s, adapted<S>); }, "a low estimate replaces the declared cost",
            [](Scene& s) { return adaptationChargesMore(s, believeTheEstimate); }},
    Theorem{"estimate-follows-observations",
            "an estimate is at least what was last seen, and within what was ever seen",
            [](Scene& s) { return estimateIsSound(s, observeCost<S>); }, "observations are added up",
            [](Scene& s) { return estimateIsSound(s, sumUp); }},
    Theorem{"effectiveness-bounded", "a score stays within 0 and 1000, and moves the way of the outcome",
            [](Scene& s) { return scoreIsSound(s, observeOutcome<S>); }, "equal steps, not parts of what is left",
            [](Scene& s) { return scoreIsSound(s, scoreByEighths); }},
};

}  // namespace

std::span<const Theorem> selectionTheorems() { return kSelection; }
std::span<const Theorem> adaptationTheorems() { return kAdaptation; }

}  // namespace witan::agents::proof
