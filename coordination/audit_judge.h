// Judge: what should have come of an epoch, by the log alone. A second reading of the rules that shares no code with
// coordination/admissibility.*: sets and words instead of numbers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "coordination/audit_log.h"

namespace witan::kernel::joint {

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
