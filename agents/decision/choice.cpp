#include "agents/decision/choice.h"

#include "base/identity.h"
#include "base/quote.h"

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

void AdaptationBook::put(const std::string& goalType, const std::string& tool, Natural score) {
  if (scores_.size() < kMost) scores_[{goalType, tool}] = score > Natural(kBestScore) ? Natural(kBestScore) : score;
}

void AdaptationBook::put(const std::string& tool, const CostEstimate<RunTime>& cost) {
  if (costs_.size() < kMost) costs_[tool] = cost;
}

Natural AdaptationBook::score(const std::string& goalType, const std::string& tool) const {
  const auto found = scores_.find({goalType, tool});
  return found == scores_.end() ? Natural(kUnknownScore) : found->second;
}

Tool AdaptationBook::adaptedTool(const std::string& name, const Tool& declared) const {
  const auto found = costs_.find(name);
  return found == costs_.end() ? declared : adapted<RunTime>(declared, found->second);
}

Status ToolRegistry::add(const std::string& name, const Tool& spec, const std::set<std::string>& goalTypes) {
  WITAN_DO(validateId("tool", name));
  if (goalTypes.size() > kMostGoalTypes)
    return invalid(concat("tool ", inQuotes(name), " serves more than ", kMostGoalTypes, " goal types"));
  for (const std::string& type : goalTypes) WITAN_DO(validateId("goal type", type));
  if (tools_.contains(name)) return conflict("there is a tool " + inQuotes(name) + " already");
  if (tools_.size() == kMost) return invalid(concat("a registry has at most ", kMost, " tools"));
  tools_[name] = {spec, goalTypes};
  return okStatus();
}

Status ToolRegistry::setAvailable(const std::string& name, bool available) {
  const auto found = tools_.find(name);
  if (found == tools_.end()) return notFound("there is no tool " + inQuotes(name));
  found->second.available = available;
  return okStatus();
}

const ToolRegistry::Entry* ToolRegistry::find(const std::string& name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

std::optional<Selection> selectTool(const std::string& goalType, const ToolRegistry& registry,
                                    const AdaptationBook& experience, const State& st) {
  Candidate<RunTime> candidate{};
  const std::string* name = nullptr;
  std::uint64_t index = 0;
  for (const auto& [toolName, entry] : registry.tools()) {
    const bool suits = entry.goalTypes.empty() || entry.goalTypes.contains(goalType);
    const Offer<RunTime> offer{experience.adaptedTool(toolName, entry.spec), Natural(index),
                               experience.score(goalType, toolName), suits, entry.available};
    candidate = consider(offer, st, candidate);
    if (candidate.found && candidate.best.index == Natural(index)) name = &toolName;
    ++index;
  }
  if (!candidate.found) return std::nullopt;
  return Selection{*name, candidate.best.tool, candidate.best.score};
}

}  // namespace witan::agents::decision
