// Which tool for a goal (seed 002, phase 4): the best of those that are there, suit, and may be invoked now.
//
// select-tool is a fold over the offers in registry order, of which consider() is one step; what is proven of the step
// for every candidate and every offer holds for registries of every size. Pure; O(1) a step.
#pragma once

#include "agents/decision/decisions.h"

namespace witan::agents::decision {

template <class L>
struct Offer {
  ToolSpec<L> tool;  // with adapted costs (agents/decision/adaptation.h)
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
