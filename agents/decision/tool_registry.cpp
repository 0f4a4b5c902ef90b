#include "agents/decision/tool_registry.h"

#include "agents/decision/selection.h"
#include "base/identity.h"
#include "base/quote.h"

namespace witan::agents::decision {

Status ToolRegistry::add(const std::string& name, const Tool& spec, const std::set<std::string>& goalTypes) {
  WITAN_DO(validateId("tool", name));
  if (goalTypes.size() > kMostGoalTypes)
    return invalid("tool " + inQuotes(name) + " serves more than " + std::to_string(kMostGoalTypes) + " goal types");
  for (const std::string& type : goalTypes) WITAN_DO(validateId("goal type", type));
  if (tools_.contains(name)) return Error{ErrorCode::conflict, "there is a tool " + inQuotes(name) + " already", ""};
  if (tools_.size() == kMost) return invalid("a registry has at most " + std::to_string(kMost) + " tools");
  tools_[name] = {spec, goalTypes};
  return okStatus();
}

Status ToolRegistry::setAvailable(const std::string& name, bool available) {
  const auto found = tools_.find(name);
  if (found == tools_.end()) return Error{ErrorCode::notFound, "there is no tool " + inQuotes(name), ""};
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
