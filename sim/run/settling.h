// Settling: the second phase of a run. Faults have ended and nothing new is asked; operators and counselors do their
// work, and within the time that the options allow everything pending must be done: checker "liveness".
#pragma once

#include "sim/run/fault_injector.h"
#include "sim/run/operators.h"

namespace witan::sim {

class Settling {
 public:
  Settling(Cluster& cluster, FaultInjector& faults, Operators& operators)
      : c_(cluster), faults_(faults), operators_(operators) {}
  // The first one begins the phase. Schedules the next, until everything has settled.
  void look();
  bool settled() const { return settled_; }
  const std::string& waitingFor() const { return waitingFor_; }

 private:
  void begin();
  std::string unsettled();
  std::string unsettledPartition(const std::string& id);
  std::string standingsOf(const std::string& id);
  std::string standingOf(const node::Request& request);

  Cluster& c_;
  FaultInjector& faults_;
  Operators& operators_;
  bool settled_ = false;
  Micros settleBy_ = 0;
  std::string waitingFor_;
  std::uint64_t looks_ = 0;
};

}  // namespace witan::sim
