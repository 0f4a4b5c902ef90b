#include "agents/decision/adaptation.h"

namespace witan::agents::decision {

void AdaptationBook::observe(const std::string& goalType, const std::string& tool, bool success,
                             const CostEstimate<RunTime>& cost) {
  const std::pair pair(goalType, tool);
  if (scores_.contains(pair) || scores_.size() < kMost) {
    const auto score = scores_.try_emplace(pair, Natural(kUnknownScore)).first;
    score->second = observeOutcome<RunTime>(success, score->second);
  }
  if (costs_.contains(tool) || costs_.size() < kMost) costs_[tool] = observeCost<RunTime>(cost, costs_[tool]);
}

Natural AdaptationBook::score(const std::string& goalType, const std::string& tool) const {
  const auto found = scores_.find({goalType, tool});
  return found == scores_.end() ? Natural(kUnknownScore) : found->second;
}

Tool AdaptationBook::adaptedTool(const std::string& name, const Tool& declared) const {
  const auto found = costs_.find(name);
  return found == costs_.end() ? declared : adapted<RunTime>(declared, found->second);
}

}  // namespace witan::agents::decision
