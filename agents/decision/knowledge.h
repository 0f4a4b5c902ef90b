// Facts and goals of an agent (seed 002, phase 2). The rules are the templates; FactBook and GoalBook are the only
// writers of the values behind them. Values; O(1) to add a fact, O(log goals) to reach a goal.
#pragma once

#include <map>
#include <span>
#include <string>

#include "agents/decision/types.h"
#include "base/result.h"

namespace witan::agents::decision {

// --- facts: a list that only grows, within limits

WITAN_ENUM(FactSource, user, kg, llm, inference)

template <class L>
struct Fact {
  typename L::Text content;
  typename L::template Enum<FactSource> source;
  typename L::Num confidence;  // 0 to 100

  WITAN_MEMBERS(Fact, content, source, confidence)
  friend bool operator==(const Fact&, const Fact&) = default;
};

template <class L>
struct FactLimits {
  typename L::Num count = 10'000;
  typename L::Num bytes = 4'194'304;  // of all contents

  WITAN_MEMBERS(FactLimits, count, bytes)
};

template <class L>
struct Facts {
  typename L::template List<Fact<L>> list;
  typename L::Num bytes;
};

// Adds the fact if it is sound and fits; whether it did. Never changes or removes another one.
template <class L>
typename L::Bool addFact(const Fact<L>& fact, const FactLimits<L>& limits, Facts<L>& facts) {
  const typename L::Num bytes = L::plus(facts.bytes, L::bytes(fact.content));
  const typename L::Bool fits = L::length(facts.list) < limits.count && bytes <= limits.bytes &&
                                fact.confidence <= L::like(fact.confidence, kFullySatisfied);
  L::appendIf(fits, facts.list, fact);
  facts.bytes = L::ite(fits, bytes, facts.bytes);
  return fits;
}

class FactBook {
 public:
  explicit FactBook(FactLimits<RunTime> limits = {}) : limits_(limits) {}

  // Errors: invalidInput for bad UTF-8, a confidence above 100 or a full book; nothing has changed then.
  Status add(const Fact<RunTime>& fact);
  std::span<const Fact<RunTime>> facts() const { return facts_.list; }

 private:
  FactLimits<RunTime> limits_;
  Facts<RunTime> facts_;
};

// --- goals, with progress

template <class L>
struct Goal {
  typename L::Num progress = 0;  // 0 to 100
  typename L::Num attempts = 0;  // steps taken for it

  WITAN_MEMBERS(Goal, progress, attempts)
  friend bool operator==(const Goal&, const Goal&) = default;
};

template <class L>
typename L::Bool achieved(const Goal<L>& goal) {
  return goal.progress >= L::like(goal.progress, kFullySatisfied);
}

// A step was taken for the goal and gained so much of it. Progress is never lost.
template <class L>
Goal<L> advanceGoal(const typename L::Num& gained, const Goal<L>& goal) {
  return {smaller<L>(L::plus(goal.progress, gained), L::like(goal.progress, kFullySatisfied)),
          L::plus(goal.attempts, L::like(goal.attempts, 1))};
}

// The satisfaction of an agent with several goals is its least progress: one step of that fold, begun with 100.
template <class L>
typename L::Num alsoSatisfy(const typename L::Num& satisfaction, const Goal<L>& goal) {
  return smaller<L>(satisfaction, goal.progress);
}

class GoalBook {
 public:
  static constexpr std::size_t kMost = 1'000;

  struct Entry {
    std::string type;  // what tools and their effectiveness are chosen by
    std::string description;
    Goal<RunTime> goal;
    WITAN_MEMBERS(Entry, type, description, goal)
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  // Errors: invalidInput if the id or type is no id (finding F13), the description is no UTF-8 or the book is full;
  // conflict if there is such a goal.
  Status add(const std::string& id, const std::string& type, const std::string& description);
  // One that was known before, as it was. Errors: as add; a progress above 100.
  Status put(const std::string& id, const Entry& entry);
  // Errors: notFound.
  Status advance(const std::string& id, Natural gained);

  const std::map<std::string, Entry>& goals() const { return goals_; }
  // 0 without goals: an agent that was given none is not satisfied.
  Natural satisfaction() const;

 private:
  std::map<std::string, Entry> goals_;
};

}  // namespace witan::agents::decision
