#include "agents/decision/goals.h"

#include "base/identity.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::agents::decision {

Status GoalBook::add(const std::string& id, const std::string& type, const std::string& description) {
  WITAN_DO(validateId("goal", id));
  WITAN_DO(validateId("goal type", type));
  if (!isUtf8(description)) return invalid("the description of goal " + inQuotes(id) + " is not UTF-8");
  if (goals_.contains(id)) return Error{ErrorCode::conflict, "there is a goal " + inQuotes(id) + " already", ""};
  if (goals_.size() == kMost) return invalid("an agent has at most " + std::to_string(kMost) + " goals");
  goals_[id] = {type, description, {}};
  return okStatus();
}

Status GoalBook::advance(const std::string& id, Natural gained) {
  const auto found = goals_.find(id);
  if (found == goals_.end()) return Error{ErrorCode::notFound, "there is no goal " + inQuotes(id), ""};
  found->second.goal = advanceGoal<RunTime>(gained, found->second.goal);
  return okStatus();
}

Natural GoalBook::satisfaction() const {
  if (goals_.empty()) return 0;
  Natural least(kFullySatisfied);
  for (const auto& [id, entry] : goals_) least = alsoSatisfy<RunTime>(least, entry.goal);
  return least;
}

}  // namespace witan::agents::decision
