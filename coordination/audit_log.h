// The log of a run, read back for the auditors: words and texts, as it was written. This and the other audit files know
// nothing of the kernel that ran; they have docs/coordination.md and the log (finding F20).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace witan::kernel::joint {

using World = std::map<std::string, std::string>;  // key, canonical JSON of the value

struct LoggedAuthority {
  bool allows = false;
  std::string holder;
  std::set<std::pair<std::string, std::string>> scope;  // key, operation
};
using LoggedAuthorities = std::map<std::string, LoggedAuthority>;

struct LoggedAction {
  std::string id, agent, operation;
  std::set<std::string> scope;
  World delta;
  std::vector<std::string> cited;
  std::string request;    // canonical, without action_id: equal when the agent asks for the same again
  std::string scopeText;  // canonical, as declared
  std::string outcome;
  std::optional<std::string> first, second;
};

struct LoggedEpoch {
  std::uint64_t number = 0;
  std::vector<std::string> exits, idle;
  std::map<std::string, std::string> observations;  // agent, canonical JSON
  std::vector<LoggedAction> actions;
  std::string messages;  // canonical
  std::vector<std::string> senders;
  World after;
  std::string afterText;  // canonical
};

// Errors name what is missing or of the wrong type. O(size * log).
Result<LoggedAuthorities> readLoggedAuthorities(const json::value& list);
Result<World> readWorld(const json::value& object);
Result<LoggedEpoch> readLoggedEpoch(const json::value& epoch);

}  // namespace witan::kernel::joint
