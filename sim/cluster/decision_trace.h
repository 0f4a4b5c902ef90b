// DecisionTrace: a line of the trace for each entry that an owner decides, and why.
#pragma once

#include <map>

#include "sim/cluster/cluster.h"

namespace witan::sim {

class DecisionTrace final : public ClusterObserver {
 public:
  explicit DecisionTrace(Cluster& cluster) : c_(cluster) {}
  void onStarted(Seat& at) override;
  void onDurable(Seat& at) override;

 private:
  Cluster& c_;
  PerDevice<std::map<std::string, std::uint64_t, std::less<>>> told_;  // by partition: entries that have their line
};

}  // namespace witan::sim
