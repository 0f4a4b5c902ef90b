// What the auditors of one epoch look at. For coordination/audit*.cpp alone.
#pragma once

#include "coordination/audit.h"

namespace witan::kernel::joint {

struct Auditor::Case {
  const LoggedEpoch& epoch;
  std::vector<Judged> judged;  // as epoch.actions
  std::set<std::string> staying;

  // All that an answer may depend on but time: the request, its rivals, and who is there (exits are for ever, so their
  // number says who).
  std::pair<std::string, std::string> circumstances(const LoggedAction& action, const Judged& judged_) const {
    return {action.request, std::to_string(staying.size()) + " " + judged_.rivals};
  }

  // Calls visit(action, what should have come of it) for each action.
  template <class Visit>
  void forEach(Visit visit) const {
    for (std::size_t i = 0; i < epoch.actions.size(); ++i) visit(epoch.actions[i], judged[i]);
  }
};

}  // namespace witan::kernel::joint
