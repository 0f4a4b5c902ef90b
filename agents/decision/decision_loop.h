// One agent's loop: its state, its history, and permits. A tool is called with a permit, and only begin() makes one: no
// effect without the check before it.
//
//   DecisionLoop loop(initial);
//   while (!loop.mustRespond()) {
//     WITAN_TRY(permit, loop.begin({ActionKind::toolCall, "kg.query", "..."}, tool));
//     if (permit) WITAN_DO(loop.finish(*std::move(permit), call(*permit), satisfaction));
//   }
//
// Sans-I/O; deterministic. Not thread-safe. A permit may outlive the loop, but is of no use then.
#pragma once

#include <optional>
#include <string>

#include "agents/decision/history.h"

namespace witan::agents::decision {

// Leave for one call, paid for. Whoever talks to tools takes it by value.
class Permit {
 public:
  Permit(Permit&&) = default;
  Permit& operator=(Permit&&) = default;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  const std::string& toolName() const { return toolName_; }
  const Tool& tool() const { return tool_; }
  Natural step() const { return step_; }

 private:
  friend class DecisionLoop;
  Permit(std::string toolName, Tool tool, Natural step) : toolName_(std::move(toolName)), tool_(tool), step_(step) {}

  std::string toolName_;
  Tool tool_;
  Natural step_;
};

struct Action {
  ActionKind kind = ActionKind::noAction;
  std::string tool;  // name, of a tool call
  std::string text;  // query or answer
};

struct CallResult {
  CallReport<RunTime> report;
  ResponseSize<RunTime> size;
  std::string observation;
};

class DecisionLoop {
 public:
  static constexpr std::size_t kMostRecords = 100'000;

  explicit DecisionLoop(const State& initial, Natural mostResponseBytes = 1'048'576)
      : initial_(initial), state_(initial), mostResponseBytes_(mostResponseBytes) {}

  const State& state() const { return state_; }
  const State& initial() const { return initial_; }
  const History& history() const { return history_; }
  bool mustRespond() const { return decision::mustRespond(state_); }

  // Takes a step. A tool call that is permitted and affordable is paid and gives a permit; one that is not ends the
  // agent, with the reasons as observation. Errors, without a step: conflict if the agent must respond, a call is open,
  // or the history is full; invalidInput if a text is no UTF-8 or too long.
  Result<std::optional<Permit>> begin(const Action& action, const Tool& tool);

  // Ends the call of the permit: charges what it cost beyond its estimate; an answer beyond the bounds breaks the
  // agent. Errors: conflict if the permit is not of the open call.
  Status finish(Permit permit, const CallResult& result, Natural satisfaction);

 private:
  State initial_, state_;
  Natural mostResponseBytes_;
  std::optional<State> beforeCall_;  // while a call is open
  History history_;
};

}  // namespace witan::agents::decision
