// The tools an agent knows (seed 002, phase 4), and the choice of one for a goal.
//
// A value without I/O: who talks to tools tells it which are there. Deterministic: tools are ordered by name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "agents/decision/adaptation.h"
#include "agents/decision/types.h"
#include "base/result.h"

namespace witan::agents::decision {

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
