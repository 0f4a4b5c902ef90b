// What the agent is after (seed 002, phase 2): goals with progress.
//
// The rules are the templates; GoalBook keeps several goals. A value; O(log goals) an access.
#pragma once

#include <map>
#include <string>

#include "agents/decision/types.h"
#include "base/result.h"

namespace witan::agents::decision {

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
  };

  // Errors: invalidInput if the id or type is no id (finding F13), the description is no UTF-8 or the book is full;
  // conflict if there is such a goal.
  Status add(const std::string& id, const std::string& type, const std::string& description);
  // Errors: notFound.
  Status advance(const std::string& id, Natural gained);

  const std::map<std::string, Entry>& goals() const { return goals_; }
  // 0 without goals: an agent that was given none is not satisfied.
  Natural satisfaction() const;

 private:
  std::map<std::string, Entry> goals_;
};

}  // namespace witan::agents::decision
