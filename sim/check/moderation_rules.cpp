// The domain moderation, with its default words: all kinds of action but WARN restrict and strike.
#include <map>
#include <set>

#include "sim/check/domain_rules.h"
#include "sim/check/state_view.h"

namespace witan::sim {

namespace {

bool restricts(const std::string& kind) { return kind != "WARN"; }

// A notice of the action, complete, no later than it.
bool hasNotice(const json::object& state, std::string_view action, Time at) {
  for (const auto& [notice, of] : columnOf(state, "notice.action")) {
    const auto when = timeOf(state, "notice.at", notice);
    if (textIn(&of) == action && when && *when <= at && !textOf(state, "notice.facts", notice).empty() &&
        !textOf(state, "notice.clause", notice).empty() && !textOf(state, "notice.redress", notice).empty())
      return true;
  }
  return false;
}

std::string wrongAction(const json::object& state, std::string_view action, const std::string& kind) {
  const std::string name = "action " + std::string(action);
  const auto at = timeOf(state, "action.at", action);
  if (!at) return name + " has no time";
  if (restricts(kind) && !hasNotice(state, action, *at)) return name + " restricts, and nobody was told why";
  const bool reversed = cellOf(state, "action.reversedAt", action) != nullptr;
  if (restricts(kind) != (cellOf(state, "strike.weight", action) != nullptr))
    return name + " strikes where it must not, or does not where it must";
  if (reversed != (cellOf(state, "strike.voidedAt", action) != nullptr) && restricts(kind))
    return name + " and its strike are not reversed together";
  if (kind == "BAN" && cellOf(state, "humanReview", action) == nullptr) return name + " bans, and no human looked";
  return {};
}

std::string wrongAppeal(const json::object& state, std::string_view appeal) {
  const std::string name = "appeal " + std::string(appeal), status = textOf(state, "appeal.status", appeal);
  const std::string of = textOf(state, "appeal.action", appeal);
  if (textOf(state, "action.kind", of).empty()) return name + " is of no action";
  if (status == "OVERTURNED" && cellOf(state, "action.reversedAt", of) == nullptr)
    return name + " is OVERTURNED, and its action stands";
  if (status != "OPEN" && !textOf(state, "appeal.decidedBy", appeal).starts_with("human"))
    return name + " is decided by no human";
  return {};
}

}  // namespace

std::string checkModerationState(const json::object& state) {
  static const std::map<std::string, int> heights{{"RESTRICT", 1}, {"SUSPEND", 2}, {"BAN", 3}};
  std::set<std::pair<std::string, std::string>> punished;
  int due = 0;
  for (const auto& [action, kind] : columnOf(state, "action.kind")) {
    if (const std::string why = wrongAction(state, action, textIn(&kind)); !why.empty()) return why;
    if (cellOf(state, "action.reversedAt", action) != nullptr) continue;
    if (const auto height = heights.find(textIn(&kind)); height != heights.end()) due = std::max(due, height->second);
    if (!punished.emplace(textOf(state, "action.item", action), textOf(state, "action.policy", action)).second)
      return "action " + std::string(action) + " punishes an item a second time under one policy";
  }
  const auto stands = heights.find(textIn(state.if_contains("account.status")));
  if ((stands == heights.end() ? 0 : stands->second) != due) return "the account is not what its live actions make it";
  for (const auto& [appeal, of] : columnOf(state, "appeal.action"))
    if (const std::string why = wrongAppeal(state, appeal); !why.empty()) return why;
  return {};
}

}  // namespace witan::sim
