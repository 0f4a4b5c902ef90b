// The domain joint: the last epoch decided again from what the state remembers of it, by the words of
// docs/coordination.md.
#include <map>
#include <set>
#include <vector>

#include "sim/check/domain_rules.h"
#include "sim/check/state_view.h"

namespace witan::sim {

namespace {

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

}  // namespace

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

}  // namespace witan::sim
