// Checker "alarms": no device met what cannot be unless a disk went back or a member says what is not true: equal
// vectors with unequal contents, one dot with two bodies; and no peer had to tell it that its counters went back,
// unless the record beside its disks did too. Repair would hide these from the others.
#include <algorithm>

#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class AlarmChecker final : public Checker {
 public:
  explicit AlarmChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    const bool sidecarRolledBack =
        std::ranges::any_of(c_.seats(), [](const auto& at) { return at->sidecarRolledBack; });
    for (auto& at : c_.seats()) {
      if (!at->running()) continue;
      const auto incidents = at->replica().data().incidents();
      if (!incidents.ok()) return c_.failed("store", at->name() + ": " + incidents.error().message);
      for (const replication::Incident& incident : *incidents) {
        c_.probe("incident: " + incident.kind);
        const bool alarm =
            (incident.kind == "digestAlarm" || incident.kind == "equivocation" || incident.kind == "olderCopy") &&
            c_.history().losses().empty() && !c_.probes().contains("fault: hostile");
        const bool counters = incident.kind == "rolledBack" && !sidecarRolledBack;
        if (alarm || counters)
          return c_.failed("alarms",
                           at->name() + " reports " + incident.kind + " with " + incident.peer + ": " + incident.what);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Checker> makeAlarmChecker(Cluster& cluster) { return std::make_unique<AlarmChecker>(cluster); }

}  // namespace witan::sim
