#include "coordination/audit_judge.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::kernel::joint {

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
    const bool covered = std::any_of(own.begin(), own.end(), [&](const auto* a) { return a->scope.contains(atom); });
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
    const bool written = std::any_of(actions.begin(), actions.end(),
                                     [&](std::size_t i) { return epoch.actions[i].operation == "WRITE"; });
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
           std::none_of(holders.begin(), holders.end(), [&](const auto& holder) { return active.contains(holder); });
  };
  return std::any_of(byKey.begin(), byKey.end(),
                     [&](const auto& key) { return gone(key.second.first) || gone(key.second.second); });
}

}  // namespace witan::kernel::joint
