#include "sim/check/domain_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/time.h"

namespace witan::sim {

namespace {

// ---- a state as `DomainModule::writeState` prints it: columns are objects by key, logs objects by number. What is
// missing reads as empty.

const json::object& columnOf(const json::object& state, std::string_view field) {
  static const json::object none;
  const json::value* column = state.if_contains(field);
  return column != nullptr && column->is_object() ? column->get_object() : none;
}

// Null: the cell is empty.
const json::value* cellOf(const json::object& state, std::string_view field, std::string_view key) {
  const json::value* cell = columnOf(state, field).if_contains(key);
  return cell != nullptr && !cell->is_null() ? cell : nullptr;
}

std::string textIn(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
std::string textOf(const json::object& state, std::string_view field, std::string_view key) {
  return textIn(cellOf(state, field, key));
}
std::string memberOf(const json::value& record, std::string_view name) {
  return record.is_object() ? textIn(record.get_object().if_contains(name)) : std::string();
}

std::optional<Time> timeIn(const std::string& text) {
  auto time = parseTime(text);
  return time.ok() ? std::optional(*time) : std::nullopt;
}
std::optional<Time> timeOf(const json::object& state, std::string_view field, std::string_view key) {
  return timeIn(textOf(state, field, key));
}

const json::array& listIn(const json::value* value) {
  static const json::array none;
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

// Whether a person has waived the rule for the subject.
bool isWaived(const json::object& state, std::string_view invariant, std::string_view subject) {
  for (const json::value& one : listIn(state.if_contains("waivers")))
    if (const json::array& pair = listIn(&one);
        pair.size() == 2 && textIn(&pair[0]) == invariant && textIn(&pair[1]) == subject)
      return true;
  return false;
}

// ---- verification

// Two runs count as one if environment and seed are the same.
std::size_t reproductionsOf(const json::object& state, std::string_view finding) {
  std::set<std::string> settings;
  for (const auto& [number, run] : columnOf(state, "repro.log")) {
    if (!run.is_object() || memberOf(run, "f") != finding || memberOf(run, "trace").empty()) continue;
    const json::value* ok = run.get_object().if_contains("ok");
    const json::value* seed = run.get_object().if_contains("seed");
    if (ok != nullptr && ok->is_bool() && ok->get_bool() && seed != nullptr)
      settings.insert(memberOf(run, "env") + " " + canonicalJson(*seed));
  }
  return settings.size();
}

bool mayFollow(const std::string& from, const std::string& to) {
  static const std::set<std::pair<std::string, std::string>> edges{
      {"SUBMITTED", "TRIAGED"}, {"SUBMITTED", "DUPLICATE"}, {"TRIAGED", "REPRODUCED"}, {"TRIAGED", "REFUTED"},
      {"TRIAGED", "DUPLICATE"}, {"REPRODUCED", "VERIFIED"}, {"REPRODUCED", "REFUTED"}, {"REPRODUCED", "DUPLICATE"}};
  return edges.contains({from, to});
}

std::string checkVerificationState(const json::object& state) {
  for (const auto& [finding, phase] : columnOf(state, "finding.phase")) {
    const std::string name = concat("finding ", finding), now = textIn(&phase);
    std::string before;
    for (const json::value& step : listIn(cellOf(state, "phase.log", finding))) {
      const json::array& pair = listIn(&step);
      const std::string next = pair.empty() ? "" : textIn(&pair[0]);
      if (before.empty() ? next != "SUBMITTED" : !mayFollow(before, next))
        return name + " went from \"" + before + "\" to " + next;
      before = next;
    }
    if (before != now) return name + " is " + now + ", its history ends with \"" + before + "\"";
    if (now == "DUPLICATE" && textOf(state, "finding.phase", textOf(state, "dup.of", finding)).empty())
      return name + " is a duplicate of what nobody knows";
    if ((now == "VERIFIED" || now == "REFUTED") && cellOf(state, "verdict.by", finding) == nullptr)
      return name + " is " + now + " and no human said so";
    if (now != "VERIFIED") continue;
    if (reproductionsOf(state, finding) < 2) return name + " is VERIFIED without two reproductions";
    if (textOf(state, "static.location", finding).empty() || cellOf(state, "sev.score", finding) == nullptr)
      return name + " is VERIFIED without a location or a severity";
  }
  return {};
}

// ---- disclosure, under the preset PAPER: 90 days and at most 14 more, the later of deadline and patch.

constexpr std::int64_t kRateWindow = 7 * kMicrosPerDay;
constexpr std::size_t kRate = 3;

// No maintainer of an organisation had more reports than three in any seven days.
std::string tooManyReports(const json::object& state) {
  std::map<std::pair<std::string, std::string>, std::vector<Time>> sent;
  for (const auto& [report, at] : columnOf(state, "report.submittedAt"))
    if (const auto time = timeIn(textIn(&at)))
      sent[{textOf(state, "report.org", report), textOf(state, "report.maintainer", report)}].push_back(*time);
  for (auto& [whom, times] : sent) {
    std::ranges::sort(times);
    for (std::size_t i = kRate; i < times.size(); ++i)
      if (times[i].micros - times[i - kRate].micros < kRateWindow)
        return "more than three reports in a week to " + whom.second + " of " + whom.first;
  }
  return {};
}

std::string doubledCommitment(const json::object& state) {
  std::map<std::string, int> committed, resolved;
  for (const auto& [number, fact] : columnOf(state, "commit.log"))
    if (++committed[memberOf(fact, "hash")] > 1) return "commitment " + memberOf(fact, "hash") + " stands twice";
  for (const auto& [number, fact] : columnOf(state, "resolve.log")) {
    const std::string hash = memberOf(fact, "hash");
    if (!committed.contains(hash)) return "commitment " + hash + " is open, and was never made";
    if (++resolved[hash] > 1) return "commitment " + hash + " is opened twice";
  }
  return {};
}

// An id names one vulnerability that is not withdrawn, unless a person let it be.
std::string sharedId(const json::object& state) {
  std::map<std::string, std::string> holder;
  for (const char* field : {"cve.observed", "cve.dedup", "disc.cve"})
    for (const auto& [v, id] : columnOf(state, field)) {
      const std::string cve = textIn(&id);
      if (cve.empty() || textOf(state, "vuln.phase", v) == "WITHDRAWN") continue;
      const auto [at, fresh] = holder.emplace(cve, std::string(v));
      if (!fresh && at->second != v && !isWaived(state, "CVE_ATTRIBUTION_UNIQUENESS", cve))
        return concat(cve, " names ", at->second, " and ", v);
    }
  return {};
}

// A disclosure at T: not before its embargo lets go, with a patch or a reason, and crediting somebody.
std::string wrongDisclosure(const json::object& state, std::string_view v, Time at) {
  const std::string name = concat("the disclosure of ", v);
  const auto by = [&](const char* field) {
    const auto time = timeOf(state, field, v);
    return time && *time <= at ? time : std::nullopt;
  };
  const auto patch = by("patch.releasedAt"), leak = by("pub.knownAt"), deadline = timeOf(state, "embargo.deadline", v);
  if (deadline && !leak && !isWaived(state, "EMBARGO_ENFORCEMENT", v)) {
    const Time release = patch ? std::max(*deadline, *patch) : *deadline;
    if (at < release) return name + " came before its embargo let go, at " + formatTime(release);
  }
  const bool released = patch && textOf(state, "patch.status", v) == "RELEASED";
  const std::string reason = textOf(state, "disc.noPatchReason", v);
  const bool elapsed = by("embargo.deadline") || isWaived(state, "EMBARGO_ENFORCEMENT", v);
  if ((reason == "PUBLIC_KNOWLEDGE" && !leak) || (reason == "EMBARGO_ELAPSED" && !elapsed))
    return name + " gives an untrue reason";
  if (!released && !leak && !by("embargo.deadline") && !isWaived(state, "PATCH_BEFORE_DISCLOSURE", v))
    return name + " came before a patch";
  if (released && textOf(state, "disc.patchLink", v) != textOf(state, "patch.ref", v))
    return name + " does not say where the patch is";
  if (by("cve.observedAt") && textOf(state, "disc.cve", v).empty()) return name + " leaves out its CVE id";
  const json::array& credits = listIn(cellOf(state, "disc.attribution", v));
  if (credits.empty() || std::any_of(credits.begin(), credits.end(), [](const json::value& c) {
        return textIn(&c).find_first_not_of(" \t\n") == std::string::npos;
      }))
    return name + " credits nobody";
  return {};
}

std::int64_t numberOf(const json::object& state, std::string_view field, std::string_view key) {
  const json::value* cell = cellOf(state, field, key);
  return cell != nullptr && cell->is_int64() ? cell->get_int64() : 0;
}

// Whether an agent made the embargo shorter than the regime has it, or took the fix back.
std::string takenBack(const json::object& state, std::string_view v) {
  const bool embargoed = cellOf(state, "embargo.startAt", v) != nullptr;
  if (embargoed && !isWaived(state, "EMBARGO_ENFORCEMENT", v) &&
      (numberOf(state, "embargo.baseDays", v) < 90 || numberOf(state, "embargo.extensionDays", v) < 0))
    return "the embargo of " + std::string(v) + " is shorter than 90 days";
  const bool released = textOf(state, "patch.status", v) == "RELEASED";
  if (released != (cellOf(state, "patch.releasedAt", v) != nullptr))
    return "the fix of " + std::string(v) + " is released and not released";
  return {};
}

std::string checkDisclosureState(const json::object& state) {
  for (const std::string& why : {tooManyReports(state), doubledCommitment(state), sharedId(state)})
    if (!why.empty()) return why;
  for (const auto& [v, phase] : columnOf(state, "vuln.phase")) {
    const json::array& history = listIn(cellOf(state, "phase.log", v));
    const json::array& last = listIn(history.empty() ? nullptr : &history.back());
    if (last.empty() || textIn(&last[0]) != textIn(&phase)) return concat(v, " is not where its history ends");
    if (const std::string why = takenBack(state, v); !why.empty()) return why;
    const auto at = timeOf(state, "disc.at", v);
    if (at.has_value() != (textIn(&phase) == "DISCLOSED")) return concat(v, " is disclosed at no time, or not");
    if (!at) continue;
    if (const std::string why = wrongDisclosure(state, v, *at); !why.empty()) return why;
  }
  return {};
}

// ---- joint: the last epoch decided again from what the state remembers of it, by the words of
// docs/coordination.md.

struct Action {
  std::string agent, type;
  std::set<std::string> scope;
  std::map<std::string, std::string> delta;
  std::vector<std::string> cited;
  std::string due;
};

std::vector<std::string> textsIn(const json::value& list) {
  std::vector<std::string> texts;
  for (const json::value& one : listIn(&list)) texts.push_back(textIn(&one));
  return texts;
}

// [epoch, type, scope, [[key, value], ...], cited]
Action actionOf(std::string_view agent, const json::value& request) {
  Action action;
  action.agent = agent;
  const json::array& parts = listIn(&request);
  if (parts.size() != 5) return action;
  action.type = textIn(&parts[1]);
  for (std::string& key : textsIn(parts[2])) action.scope.insert(std::move(key));
  for (const json::value& change : listIn(&parts[3]))
    if (const json::array& pair = listIn(&change); pair.size() == 2) action.delta[textIn(&pair[0])] = textIn(&pair[1]);
  action.cited = textsIn(parts[4]);
  return action;
}

bool covers(const json::object& state, const std::string& authority, const std::string& type, const std::string& key) {
  const char* field = type == "READ" ? "authority.reads" : "authority.writes";
  for (const json::value& one : listIn(cellOf(state, field, authority)))
    if (textIn(&one) == key) return true;
  return false;
}

// Pass 1: what is claimed is held; an ALLOW for every key, and no DENY of anybody.
std::string firstPass(const json::object& state, const Action& action) {
  for (const std::string& id : action.cited)
    if (textOf(state, "authority.holder", id) != action.agent) return "ACTION_FAULT";
  for (const std::string& key : action.scope) {
    bool allowed = false;
    for (const std::string& id : action.cited)
      allowed |= textOf(state, "authority.commitment", id) == "ALLOW" && covers(state, id, action.type, key);
    for (const auto& [id, commitment] : columnOf(state, "authority.commitment"))
      if (textIn(&commitment) == "DENY" && covers(state, std::string(id), action.type, key)) allowed = false;
    if (!allowed) return "JOINT_ADMISSIBILITY_FAILURE";
  }
  return {};
}

bool collide(const Action& a, const Action& b) {
  if (a.type == "READ" && b.type == "READ") return false;
  for (const std::string& key : a.scope)
    if (b.scope.contains(key)) return true;
  return false;
}

std::map<std::string, std::string> worldOf(const json::object& state, bool before) {
  std::map<std::string, std::string> world;
  for (const auto& [key, value] : columnOf(state, "world.value")) {
    const std::string old = textOf(state, "world.before", key);
    world[std::string(key)] = before && cellOf(state, "world.before", key) != nullptr ? old : textIn(&value);
  }
  return world;
}

// Pass 2, of those that passed; and who changes what it did not declare is at fault.
void judge(const json::object& state, const std::map<std::string, std::string>& before, std::vector<Action>& actions) {
  for (Action& action : actions) action.due = firstPass(state, action);
  std::vector<std::string> due;
  for (const Action& action : actions) {
    std::string outcome = action.due;
    for (const Action& other : actions)
      if (outcome.empty() && &other != &action && other.due.empty() && collide(action, other))
        outcome = "JOINT_ADMISSIBILITY_FAILURE";
    for (const auto& [key, value] : action.delta)
      if (outcome.empty() && !action.scope.contains(key) && before.at(key) != value) outcome = "ACTION_FAULT";
    due.push_back(outcome.empty() ? "EXECUTED" : outcome);
  }
  for (std::size_t i = 0; i < actions.size(); ++i) actions[i].due = due[i];
}

std::string checkJointState(const json::object& state) {
  std::vector<Action> actions;
  for (const auto& [agent, request] : columnOf(state, "agent.closed"))
    if (!request.is_null()) actions.push_back(actionOf(agent, request));
  std::map<std::string, std::string> world = worldOf(state, true);
  for (const Action& action : actions)
    for (const auto& [key, value] : action.delta)
      if (!world.contains(key)) return action.agent + " wrote " + key + ", which the world has not";
  judge(state, world, actions);
  for (const Action& action : actions) {
    const std::string told = textOf(state, "agent.outcome", action.agent);
    if (told != action.due) return "what " + action.agent + " did came out as " + told + ", due is " + action.due;
    if (told == "EXECUTED")
      for (const auto& [key, value] : action.delta) world[key] = value;
  }
  return world == worldOf(state, false) ? "" : "the world is not what the executed actions made of it";
}

// ---- moderation, with its default words: all kinds of action but WARN restrict and strike.

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
  const std::string name = concat("action ", action);
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
  const std::string name = concat("appeal ", appeal), status = textOf(state, "appeal.status", appeal);
  const std::string of = textOf(state, "appeal.action", appeal);
  if (textOf(state, "action.kind", of).empty()) return name + " is of no action";
  if (status == "OVERTURNED" && cellOf(state, "action.reversedAt", of) == nullptr)
    return name + " is OVERTURNED, and its action stands";
  if (status != "OPEN" && cellOf(state, "appeal.decidedBy", appeal) == nullptr) return name + " is decided by no human";
  return {};
}

std::string checkModerationState(const json::object& state) {
  static const std::map<std::string, int> heights{{"RESTRICT", 1}, {"SUSPEND", 2}, {"BAN", 3}};
  std::set<std::pair<std::string, std::string>> punished;
  int due = 0;
  for (const auto& [action, kind] : columnOf(state, "action.kind")) {
    if (const std::string why = wrongAction(state, action, textIn(&kind)); !why.empty()) return why;
    if (cellOf(state, "action.reversedAt", action) != nullptr) continue;
    if (const auto height = heights.find(textIn(&kind)); height != heights.end()) due = std::max(due, height->second);
    if (!punished.emplace(textOf(state, "action.item", action), textOf(state, "action.policy", action)).second)
      return concat("action ", action, " punishes an item a second time under one policy");
  }
  const auto stands = heights.find(textIn(state.if_contains("account.status")));
  if ((stands == heights.end() ? 0 : stands->second) != due) return "the account is not what its live actions make it";
  for (const auto& [appeal, of] : columnOf(state, "appeal.action"))
    if (const std::string why = wrongAppeal(state, appeal); !why.empty()) return why;
  return {};
}

}  // namespace

std::string checkDomainState(std::string_view domain, const json::object& state) {
  if (domain == "disclosure") return checkDisclosureState(state);
  if (domain == "verification") return checkVerificationState(state);
  if (domain == "moderation") return checkModerationState(state);
  if (domain == "joint") return checkJointState(state);
  return {};
}

}  // namespace witan::sim
