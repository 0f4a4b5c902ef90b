#include "coordination/judge.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"
#include "coordination/json_members.h"

namespace witan::kernel::joint {

namespace {

Result<std::vector<std::string>> readWords(const json::value& list, const std::string& path) {
  std::vector<std::string> words;
  WITAN_DO(readJson(list, words, path));
  return words;
}

Status readMember(const json::object& object, std::string_view name, std::string& into, const std::string& path) {
  return witan::readText(object.at(name), into, memberPath(path, name));
}

Result<LoggedAction> readAction(const json::value& value, const std::string& path) {
  WITAN_DO(hasMembers(
      value, path, {"action_id", "action_type", "agent_id", "authorities_cited", "declared_scope", "proposed_delta"}));
  json::object object = value.get_object();
  LoggedAction action;
  WITAN_DO(readMember(object, "action_id", action.id, path));
  WITAN_DO(readMember(object, "action_type", action.operation, path));
  WITAN_DO(readMember(object, "agent_id", action.agent, path));
  WITAN_SET(action.cited, readWords(object.at("authorities_cited"), memberPath(path, "authorities_cited")));
  WITAN_TRY(scope, readWords(object.at("declared_scope"), memberPath(path, "declared_scope")));
  action.scope.insert(scope.begin(), scope.end());
  WITAN_SET(action.delta, readWorld(object.at("proposed_delta")));
  action.scopeText = canonicalJson(object.at("declared_scope"));
  object.erase("action_id");
  action.request = canonicalJson(object);
  return action;
}

Status readOutcomes(const json::object& epoch, const std::string& path, LoggedEpoch& into) {
  std::map<std::string, LoggedAction*> byId;
  for (LoggedAction& action : into.actions) byId[action.id] = &action;
  const json::value& outcomes = epoch.at("outcomes");
  if (!outcomes.is_object()) return wrongJsonType(memberPath(path, "outcomes"), "an object", outcomes);
  const std::string none = concat(":", into.number, ":none");
  for (const auto& member : outcomes.get_object()) {
    const std::string id(member.key());
    std::string word;
    WITAN_DO(witan::readText(member.value(), word, memberPath(memberPath(path, "outcomes"), id)));
    if (const auto found = byId.find(id); found != byId.end())
      found->second->outcome = word;
    else if (id.ends_with(none) && word == "NO_ACTION")
      into.idle.push_back(id.substr(0, id.size() - none.size()));
    else
      return invalid(memberPath(path, "outcomes") + ": " + id + " is of no action of this epoch");
  }
  for (const LoggedAction& action : into.actions)
    if (action.outcome.empty()) return invalid(memberPath(path, "outcomes") + ": " + action.id + " has none");
  return okStatus();
}

Status readPass(const json::object& epoch, std::string_view name, const std::string& path, LoggedEpoch& into,
                std::optional<std::string> LoggedAction::*result) {
  const json::value& results = epoch.at(name);
  if (!results.is_object()) return wrongJsonType(memberPath(path, name), "an object", results);
  for (LoggedAction& action : into.actions)
    if (const json::value* word = results.get_object().if_contains(action.id))
      WITAN_DO(witan::readText(*word, (action.*result).emplace(), memberPath(path, name)));
  return okStatus();
}

}  // namespace

Result<LoggedAuthorities> readLoggedAuthorities(const json::value& list) {
  const std::string path = "$.authority_artifacts";
  if (!list.is_array()) return wrongJsonType(path, "a list", list);
  LoggedAuthorities all;
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    const std::string place = elementPath(path, i);
    const json::value& value = list.get_array()[i];
    WITAN_DO(hasMembers(
        value, place,
        {"authority_id", "commitment", "created_epoch", "holder_agent_id", "issuer_agent_id", "scope", "status"}));
    const json::object& object = value.get_object();
    std::string id, commitment;
    LoggedAuthority authority;
    WITAN_DO(readMember(object, "authority_id", id, place));
    WITAN_DO(readMember(object, "commitment", commitment, place));
    WITAN_DO(readMember(object, "holder_agent_id", authority.holder, place));
    authority.allows = commitment == "ALLOW";
    const json::value& scope = object.at("scope");
    if (!scope.is_array()) return wrongJsonType(memberPath(place, "scope"), "a list", scope);
    for (const json::value& atom : scope.get_array()) {
      WITAN_DO(hasMembers(atom, memberPath(place, "scope"), {"operation", "target"}));
      std::string operation, target;
      WITAN_DO(readMember(atom.get_object(), "operation", operation, place));
      WITAN_DO(readMember(atom.get_object(), "target", target, place));
      authority.scope.emplace(target.substr(std::min(target.size(), std::string_view("STATE:/").size())), operation);
    }
    all.emplace(std::move(id), std::move(authority));
  }
  return all;
}

Result<World> readWorld(const json::value& object) {
  if (!object.is_object()) return wrongJsonType("$: a state", "an object", object);
  World world;
  for (const auto& member : object.get_object()) world.emplace(member.key(), canonicalJson(member.value()));
  return world;
}

Result<LoggedEpoch> readLoggedEpoch(const json::value& value) {
  const std::string path = "$.epochs[]";
  WITAN_DO(hasMembers(value, path,
                      {"actions", "epoch", "exits", "messages", "observations", "outcomes", "pass1_results",
                       "pass2_results", "state_after"}));
  const json::object& object = value.get_object();
  LoggedEpoch epoch;
  WITAN_DO(readJson(object.at("epoch"), epoch.number, memberPath(path, "epoch")));
  WITAN_SET(epoch.exits, readWords(object.at("exits"), memberPath(path, "exits")));
  epoch.messages = canonicalJson(object.at("messages"));
  if (!object.at("messages").is_array() || !object.at("actions").is_array() || !object.at("observations").is_object())
    return invalid(path + ": messages and actions are lists, observations are an object");
  for (const json::value& message : object.at("messages").get_array()) {
    WITAN_DO(hasMembers(message, memberPath(path, "messages"), {"content", "epoch", "sender"}));
    WITAN_DO(readMember(message.get_object(), "sender", epoch.senders.emplace_back(), memberPath(path, "messages")));
  }
  for (const auto& member : object.at("observations").get_object())
    epoch.observations.emplace(member.key(), canonicalJson(member.value()));
  for (const json::value& action : object.at("actions").get_array()) {
    WITAN_TRY(read, readAction(action, memberPath(path, "actions")));
    epoch.actions.push_back(std::move(read));
  }
  WITAN_DO(readOutcomes(object, path, epoch));
  WITAN_DO(readPass(object, "pass1_results", path, epoch, &LoggedAction::first));
  WITAN_DO(readPass(object, "pass2_results", path, epoch, &LoggedAction::second));
  WITAN_SET(epoch.after, readWorld(object.at("state_after")));
  epoch.afterText = canonicalJson(object.at("state_after"));
  return epoch;
}

Wrong Judged::ifExecuted() const {
  if (lawful()) return Wrong::nothing;
  if (!admissible()) return heldElsewhere && !vetoed ? Wrong::theft : Wrong::unauthorized;
  return strays ? Wrong::stray : Wrong::collision;
}

const char* Judged::outcome() const {
  if (falseClaim) return "ACTION_FAULT";
  if (!admissible() || collides) return "JOINT_ADMISSIBILITY_FAILURE";
  return strays ? "ACTION_FAULT" : "EXECUTED";
}

Judge::Judge(LoggedAuthorities authorities) : authorities_(std::move(authorities)) {
  for (const auto& [id, authority] : authorities_)
    for (const auto& atom : authority.scope) {
      Claims& claims = claims_[atom];
      if (authority.allows)
        claims.holders.insert(authority.holder);
      else
        claims.denied = true;
    }
}

Judged Judge::alone(const LoggedAction& action, const World& before) const {
  Judged judged;
  std::vector<const LoggedAuthority*> own;
  for (const std::string& id : action.cited) {
    const auto found = authorities_.find(id);
    const bool held = found != authorities_.end() && found->second.holder == action.agent;
    judged.falseClaim = judged.falseClaim || !held;
    if (held && found->second.allows) own.push_back(&found->second);
  }
  judged.heldElsewhere = true;
  for (const std::string& key : action.scope) {
    const std::pair atom(key, action.operation);
    const bool covered = std::ranges::any_of(own, [&](const auto* a) { return a->scope.contains(atom); });
    const auto found = claims_.find(atom);
    judged.vetoed = judged.vetoed || (found != claims_.end() && found->second.denied);
    if (covered) continue;
    judged.uncovered = true;
    const std::size_t ownClaims = found == claims_.end() ? 0 : found->second.holders.count(action.agent);
    judged.heldElsewhere = judged.heldElsewhere && found != claims_.end() && found->second.holders.size() > ownClaims;
  }
  judged.heldElsewhere = judged.heldElsewhere && (judged.uncovered || judged.falseClaim);
  for (const auto& [key, value] : action.delta) {
    const auto old = before.find(key);
    if (!action.scope.contains(key) && (old == before.end() || old->second != value)) judged.strays = true;
  }
  return judged;
}

std::vector<Judged> Judge::judge(const LoggedEpoch& epoch, const World& before) const {
  std::vector<Judged> all;
  std::map<std::string, std::vector<std::size_t>> touching;
  for (std::size_t i = 0; i < epoch.actions.size(); ++i) {
    all.push_back(alone(epoch.actions[i], before));
    if (all[i].admissible())
      for (const std::string& key : epoch.actions[i].scope) touching[key].push_back(i);
  }
  std::vector<std::set<std::string>> rivals(all.size());
  for (const auto& [key, actions] : touching) {
    const bool written =
        std::ranges::any_of(actions, [&](std::size_t i) { return epoch.actions[i].operation == "WRITE"; });
    if (!written || actions.size() < 2) continue;
    std::string names = key + ":";
    for (std::size_t i : actions) names += " " + epoch.actions[i].request;
    const std::string digest = toHex(sha256(names));
    for (std::size_t i : actions) {
      all[i].collides = true;
      rivals[i].insert(digest);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::string& digest : rivals[i]) all[i].rivals += digest;
  return all;
}

bool Judge::orphaned(const std::set<std::string>& agents, const std::set<std::string>& active) const {
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> byKey;  // all holders, writers
  for (const auto& [atom, claims] : claims_)
    for (const std::string& holder : claims.holders) {
      if (!agents.contains(holder)) continue;
      byKey[atom.first].first.insert(holder);
      if (atom.second == "WRITE") byKey[atom.first].second.insert(holder);
    }
  const auto gone = [&](const std::set<std::string>& holders) {
    return !holders.empty() &&
           std::ranges::none_of(holders, [&](const auto& holder) { return active.contains(holder); });
  };
  return std::ranges::any_of(byKey, [&](const auto& key) { return gone(key.second.first) || gone(key.second.second); });
}

}  // namespace witan::kernel::joint
