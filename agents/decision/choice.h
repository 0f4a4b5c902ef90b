// The choice of a tool for a goal (seed 002, phase 4), and how experience changes it (phase 5). Pure; O(1) a step.
//
// Experience records how well a tool serves a type of goals, and its real costs. It reorders choices and makes tools
// dearer; it never grants: the adapted tool asks for the same permissions and at least the declared costs.
#pragma once

#include "agents/decision/decisions.h"

namespace witan::agents::decision {

inline constexpr unsigned kBestScore = 1'000, kUnknownScore = 500;

// The score moves an eighth of the way to 1000 or 0. Result: at most 1000.
template <class L>
typename L::Num observeOutcome(const typename L::Bool& success, const typename L::Num& score) {
  const typename L::Num room = L::minus(L::like(score, kBestScore), score);
  return L::ite(success, L::plus(score, L::divided(room, 8)), L::minus(score, L::divided(score, 8)));
}

template <class L>
struct CostEstimate {
  typename L::Num tokens = 0;
  typename L::Num seconds = 0;

  WITAN_MEMBERS(CostEstimate, tokens, seconds)
  friend bool operator==(const CostEstimate&, const CostEstimate&) = default;
};

// Rises to what was observed at once, falls a quarter of the way: being wrong must not be cheap twice.
template <class L>
typename L::Num observeAmount(const typename L::Num& observed, const typename L::Num& estimate) {
  return L::ite(observed >= estimate, observed, L::minus(estimate, L::divided(L::minus(estimate, observed), 4)));
}

template <class L>
CostEstimate<L> observeCost(const CostEstimate<L>& observed, const CostEstimate<L>& estimate) {
  return {observeAmount<L>(observed.tokens, estimate.tokens), observeAmount<L>(observed.seconds, estimate.seconds)};
}

template <class L>
ToolSpec<L> adapted(const ToolSpec<L>& declared, const CostEstimate<L>& estimate) {
  ToolSpec<L> tool = declared;
  tool.tokenCost = larger<L>(declared.tokenCost, estimate.tokens);
  tool.timeCost = larger<L>(declared.timeCost, estimate.seconds);
  return tool;
}

// --- the choice: the best of the tools that are available, suit, and may be invoked now
//
// select-tool is a fold over the offers in registry order, and consider() is one step of it. A proof of the step for
// every candidate and every offer holds for registries of every size.

template <class L>
struct Offer {
  ToolSpec<L> tool;  // with adapted costs
  typename L::Num index;
  typename L::Num score;  // effectiveness for the goal's type
  typename L::Bool suits;
  typename L::Bool available;  // answers at present

  WITAN_MEMBERS(Offer, tool, index, score, suits, available)
};

template <class L>
struct Candidate {
  typename L::Bool found;
  Offer<L> best;  // if found

  WITAN_MEMBERS(Candidate, found, best)
};

template <class L>
typename L::Bool eligible(const Offer<L>& offer, const AgentState<L>& st) {
  return offer.available && offer.suits && canInvokeTool(offer.tool, st);
}

// Higher score; then fewer tokens. Otherwise the earlier one stays.
template <class L>
typename L::Bool preferred(const Offer<L>& offer, const Offer<L>& best) {
  return offer.score > best.score || (offer.score == best.score && offer.tool.tokenCost < best.tool.tokenCost);
}

template <class L>
Candidate<L> consider(const Offer<L>& offer, const AgentState<L>& st, const Candidate<L>& candidate) {
  const typename L::Bool takes = eligible(offer, st) && (!candidate.found || preferred(offer, candidate.best));
  return {candidate.found || takes, L::ite(takes, offer, candidate.best)};
}

}  // namespace witan::agents::decision
