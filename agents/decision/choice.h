// Which tool for a goal (seed 002, phases 4 and 5): its costs and effectiveness as experience has them, the offers of
// the tools that an agent knows, and the best of these. The rules are the templates; the classes keep values. Pure,
// without I/O; O(1) unless said otherwise.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agents/decision/decisions.h"
#include "base/result.h"

namespace witan::agents::decision {

// --- phase 5: how well a tool serves a type of goals, and its real cost. Experience reorders choices and makes tools
// dearer. It never grants: the adapted tool asks for the same permissions and at least the declared costs.

inline constexpr unsigned kBestScore = 1'000, kUnknownScore = 500;

// The score moves an eighth of the way to 1000 or 0. Result: at most 1000.
template <class L>
typename L::Num observeOutcome(const typename L::Bool& success, const typename L::Num& score) {
  const typename L::Num room = L::minus(L::like(score, kBestScore), score);
  return L::ite(success, L::plus(score, L::divided(room, 8)), L::minus(score, L::divided(score, 8)));
}

template <class L>
struct CostEstimate {
  WITAN_DECLARED(CostEstimate, (typename L::Num, tokens), (typename L::Num, seconds))
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
  // What was observed in earlier lives; nothing when it is full.
  void put(const std::string& goalType, const std::string& tool, Natural score);
  void put(const std::string& tool, const CostEstimate<RunTime>& cost);
  const std::map<std::pair<std::string, std::string>, Natural>& scores() const { return scores_; }
  const std::map<std::string, CostEstimate<RunTime>>& costs() const { return costs_; }
  Natural score(const std::string& goalType, const std::string& tool) const;
  Tool adaptedTool(const std::string& name, const Tool& declared) const;

 private:
  std::map<std::pair<std::string, std::string>, Natural> scores_;
  std::map<std::string, CostEstimate<RunTime>> costs_;
};

// --- phase 4: the best of the tools that are there, suit, and may be invoked now. select-tool is a fold over the
// offers in registry order, and consider() is one step of it. A proof about the step, for every candidate and every
// offer, holds for registries of every size.

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

// The tools an agent knows. The caller that talks to tools tells it which are there. Deterministic: tools are ordered
// by name.
class ToolRegistry {
 public:
  static constexpr std::size_t kMost = 10'000;
  static constexpr std::size_t kMostGoalTypes = 100;

  struct Entry {
    Tool spec;
    std::set<std::string> goalTypes;  // it serves these; empty: every one
    bool available = true;
  };

  // Errors: invalidInput if the name or a goal type is no id (finding F13), or there are too many; conflict if the name
  // is taken.
  Status add(const std::string& name, const Tool& spec, const std::set<std::string>& goalTypes = {});
  // Errors: notFound.
  Status setAvailable(const std::string& name, bool available);

  const Entry* find(const std::string& name) const;
  const std::map<std::string, Entry>& tools() const { return tools_; }

 private:
  std::map<std::string, Entry> tools_;
};

struct Selection {
  std::string name;
  Tool tool;  // with adapted costs: what to check and to charge
  Natural score;
};

// select-tool: of the tools that are available, serve the goal type and may be invoked in `st` at their adapted cost
// the one with the highest score, then the lowest token cost, then the first name. None if there is none: a preferred
// tool that is away or too dear falls back to the next best. O(tools).
std::optional<Selection> selectTool(const std::string& goalType, const ToolRegistry& registry,
                                    const AdaptationBook& experience, const State& st);

}  // namespace witan::agents::decision
