#include "agents/decision/decision_loop.h"

#include "agents/decision/refusal.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::agents::decision {

namespace {

Status checkText(const char* what, const std::string& text) {
  if (text.size() > kTextMax)
    return invalid(std::string(what) + " has " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(kTextMax) + " are kept");
  if (!isUtf8(text)) return invalid(std::string(what) + " is not UTF-8");
  return okStatus();
}

// For the record: what a tool says is not trusted to be text, or short.
std::string kept(const std::string& observation) {
  if (!isUtf8(observation)) return "(" + std::to_string(observation.size()) + " bytes that are not UTF-8)";
  return std::string(clip(observation, kTextMax));
}

std::string closingWords(const State& st) { return st.done ? "done" : std::string(enumName(closingError(st))); }

}  // namespace

Result<std::optional<Permit>> DecisionLoop::begin(const Action& action, const Tool& tool) {
  if (beforeCall_) return Error{ErrorCode::conflict, "a tool call is open", "finish it before the next step"};
  if (mustRespond()) return Error{ErrorCode::conflict, "the agent must respond (" + closingWords(state_) + ")", ""};
  if (history_.size() == kMostRecords)
    return Error{ErrorCode::conflict, "the history is full (" + std::to_string(kMostRecords) + " records)", "respond"};
  WITAN_DO(checkText("the tool's name", action.tool));
  WITAN_DO(checkText("the text of an action", action.text));
  const StepInput<RunTime> input{action.kind, tool, {CallOutcome::none, 0, 0}, state_.satisfaction};
  const StepRecord<RunTime> record = recordOf(input, state_);
  const bool refused = action.kind == ActionKind::toolCall && !record.invoked;
  history_.push_back({record, action.tool, action.text, refused ? whyRefused(tool, state_) : ""});
  if (record.invoked) beforeCall_ = state_;
  state_ = takeTurn(input, state_);
  if (!record.invoked) return std::optional<Permit>();
  return std::optional(Permit(action.tool, tool, record.step));
}

Status DecisionLoop::finish(Permit permit, const CallResult& result, Natural satisfaction) {
  if (!beforeCall_ || permit.step() != history_.back().decided.step)
    return Error{ErrorCode::conflict,
                 "the permit for " + inQuotes(permit.toolName()) + " of step " + std::to_string(permit.step().value()) +
                     " is not of the open call",
                 "a call is finished once"};
  ActionRecord& record = history_.back();
  StepInput<RunTime>& input = record.decided.input;
  input.report = result.report;
  input.report.outcome = outcomeWithin<RunTime>(mostResponseBytes_, result.size, result.report.outcome);
  input.satisfaction = satisfaction;
  record.observation = kept(result.observation);
  state_ = takeTurn(input, *beforeCall_);
  beforeCall_.reset();
  return okStatus();
}

}  // namespace witan::agents::decision
