// The log of a run, read back for the auditors: words and texts, as it was written. This file and the audit files
// know nothing of the kernel that ran; they have docs/coordination.md and the log (finding F20).
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

// Why an action that executed should not have.
enum class Wrong { nothing, unauthorized, theft, collision, stray };

struct Judged {
  bool falseClaim = false;  // cites what its agent does not hold
  bool vetoed = false;
  bool uncovered = false;      // some key by no cited ALLOW of its own
  bool heldElsewhere = false;  // and each such key by an ALLOW of somebody else
  bool collides = false;       // with another that pass 1 admits
  bool strays = false;         // changes a key that it has not declared
  std::string rivals;          // digests of what it collides with: equal texts, the same collision

  bool admissible() const { return !falseClaim && !vetoed && !uncovered; }
  bool lawful() const { return admissible() && !collides && !strays; }
  Wrong ifExecuted() const;
  const char* outcome() const;  // the word that belongs to it
};

// Judge: what should have come of an epoch, by the log alone. A second reading of the rules that shares no code with
// coordination/admissibility.*: sets and words instead of numbers.
class Judge {
 public:
  explicit Judge(LoggedAuthorities authorities);

  // In the order of the actions. O(total scope * log).
  std::vector<Judged> judge(const LoggedEpoch& epoch, const World& before) const;

  // A key that somebody could write, or do anything with, until the last who could has left.
  bool orphaned(const std::set<std::string>& agents, const std::set<std::string>& active) const;

 private:
  Judged alone(const LoggedAction& action, const World& before) const;

  struct Claims {
    bool denied = false;
    std::set<std::string> holders;  // of ALLOWs
  };
  LoggedAuthorities authorities_;
  std::map<std::pair<std::string, std::string>, Claims> claims_;  // by key and operation
};

}  // namespace witan::kernel::joint
