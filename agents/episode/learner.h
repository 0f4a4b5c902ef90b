// Learner: what an episode knows, and learns from what it does (seed 002, phases 2, 4 and 5): facts and goals of the
// agent, the choice among tools that serve a goal, what tools have cost; and what is left of the standing budgets of
// the day. It begins with the members "knowledge" and "standing" of the wake's input, which the transcript holds, and
// changes with what the agent says and with recorded answers only; so a replay comes to the same.
//
// The rules are those of agents/decision/, which are proven. A value; not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "agents/decision/choice.h"
#include "agents/episode/tool.h"
#include "agents/knowledge.h"

namespace witan::agents::episode {

// By which name its calls count: the provider of a model, else the boundary; empty: of what stays on the device.
const std::string& providerOf(const ToolInfo& tool);

class Learner {
 public:
  Learner() = default;
  // Without the member "knowledge" it learns nothing; one that cannot be read counts as none.
  explicit Learner(const json::object& input);

  bool learns() const { return learns_; }
  // The facts of a turn, and its steps towards goals. A full book refuses, and the end says how many.
  void take(const Turn& turn);
  decision::Natural satisfaction() const { return goals_.satisfaction(); }

  // Of the tools that serve the goal, are not among those that were tried and pass `admitted`, the one that select-tool
  // takes in this state. None: there is none.
  std::optional<std::string> choose(const std::string& goal, std::span<const ToolInfo> tools,
                                    const std::set<std::string>& tried, const decision::State& state,
                                    const std::function<bool(const ToolInfo&)>& admitted) const;
  // What a call is to be charged before it: the estimate, or more by experience.
  Budget adapted(const std::string& tool, Budget cost) const;
  // What came of a call, and what it took in all.
  void observe(const std::string& goal, const std::string& tool, bool ok, const Budget& cost);

  // Whether the standing budgets have room for a call; and what it took of them.
  bool affords(const ToolInfo& tool, const Budget& cost) const;
  void charge(const ToolInfo& tool, std::int64_t calls, const Budget& cost);
  const Usages& usage() const { return usage_; }

  // All that is known now, without what was spent.
  Knowledge knowledge() const;
  // What the end of a transcript says of it.
  void tell(json::object& end) const;

 private:
  bool learns_ = false;
  decision::FactBook facts_;
  decision::GoalBook goals_;
  decision::AdaptationBook experience_;
  std::size_t known_ = 0, refused_ = 0;        // facts at the beginning; what a full book did not take
  std::size_t factBytes_ = 0, goalBytes_ = 0;  // as written
  std::set<std::string> advanced_;             // goals
  std::optional<Usages> left_;                 // of the day's standing budgets; negative: no limit
  Usages usage_;                               // of this run
};

}  // namespace witan::agents::episode
