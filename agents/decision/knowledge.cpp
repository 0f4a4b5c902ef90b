#include "agents/decision/knowledge.h"

#include "base/identity.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::agents::decision {

Status FactBook::add(const Fact<RunTime>& fact) {
  if (!isUtf8(fact.content)) return invalid("a fact's content is not UTF-8");
  if (addFact<RunTime>(fact, limits_, facts_)) return okStatus();
  if (fact.confidence > Natural(kFullySatisfied))
    return invalid(concat("a fact's confidence is ", fact.confidence.value()), "it is a percentage");
  return invalid(concat("the facts are full: ", facts_.list.size(), " of at most ", limits_.count.value(), ", ",
                        facts_.bytes.value(), " bytes of at most ", limits_.bytes.value()),
                 "facts are never dropped; answer with what is known");
}

Status GoalBook::add(const std::string& id, const std::string& type, const std::string& description) {
  WITAN_DO(validateId("goal", id));
  WITAN_DO(validateId("goal type", type));
  if (!isUtf8(description)) return invalid("the description of goal " + inQuotes(id) + " is not UTF-8");
  if (goals_.contains(id)) return conflict("there is a goal " + inQuotes(id) + " already");
  if (goals_.size() == kMost) return invalid(concat("an agent has at most ", kMost, " goals"));
  goals_[id] = {type, description, {}};
  return okStatus();
}

Status GoalBook::put(const std::string& id, const Entry& entry) {
  if (entry.goal.progress > kFullySatisfied) return invalid("a goal's progress is above 100");
  WITAN_DO(add(id, entry.type, entry.description));
  goals_[id].goal = entry.goal;
  return okStatus();
}

Status GoalBook::advance(const std::string& id, Natural gained) {
  const auto found = goals_.find(id);
  if (found == goals_.end()) return notFound("there is no goal " + inQuotes(id));
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
