// The market of a run: three organisations (market/testing/market_world.h) under the run's time, beside its cluster.
// The plan orders, kills, silences and lies; at the end judgeWorld() looks: checker "market".
//
// It begins with the first event of its kinds. Used by one run; the cluster outlives it.
#pragma once

#include <memory>

#include "market/testing/market_world.h"
#include "sim/cluster/cluster.h"

namespace witan::sim {

class Market {
 public:
  explicit Market(Cluster& cluster) : c_(cluster) {}

  static bool concerns(EventKind kind) {
    return kind == EventKind::marketOrder || (kind >= EventKind::marketDeath && kind <= EventKind::marketLie);
  }
  void begin(const Event& event);
  void step();
  // A call that is still open; empty: none.
  std::string unsettled() const { return world_ ? world_->unsettled() : std::string(); }
  void check();

 private:
  void schedule();
  void lie(std::uint64_t n);
  int liar() const { return static_cast<int>(c_.plan().options.cluster.marketLiar) - 1; }

  Cluster& c_;
  std::unique_ptr<market::MarketWorld> world_;
  Micros scheduledAt_ = -1;
};

}  // namespace witan::sim
