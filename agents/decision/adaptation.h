// What experience changes (seed 002, phase 5): how well a tool serves a type of goals, and what it really costs.
//
// Experience reorders choices and makes tools dearer; it never grants: the adapted tool asks for the same permissions
// and at least the declared costs, whatever was observed. AdaptationBook keeps the observations. Pure; O(1).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "agents/decision/types.h"

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

// Observations per (goal type, tool) and per tool. When full, new pairs stay unknown: the checks do not depend on it.
// O(log observations) an access.
class AdaptationBook {
 public:
  static constexpr std::size_t kMost = 100'000;

  void observe(const std::string& goalType, const std::string& tool, bool success, const CostEstimate<RunTime>& cost);
  Natural score(const std::string& goalType, const std::string& tool) const;
  Tool adaptedTool(const std::string& name, const Tool& declared) const;

 private:
  std::map<std::pair<std::string, std::string>, Natural> scores_;
  std::map<std::string, CostEstimate<RunTime>> costs_;
};

}  // namespace witan::agents::decision
