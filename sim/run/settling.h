// The people of a run: operators and counselors, and the phase that is theirs.
#pragma once

#include <set>
#include <tuple>

#include "sim/cluster/clients.h"
#include "sim/run/fault_injector.h"
#include "sim/run/liar.h"
#include "sim/run/market.h"

namespace witan::sim {

// Operators and counselors: they move and seize partitions, admit and retire devices, pardon peers, and when a run
// settles, mend what only people can and decide what is pending.
class Operators final : public ClusterObserver {
 public:
  Operators(Cluster& cluster, Clients& clients) : c_(cluster), clients_(clients) {}
  void onEvent(Seat& at, const Event& event) override;
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override;

  // ---- of the settling phase
  void pardon();
  void admitAgain();
  void seizeOrphans();
  void findOverdue();
  void decideEverything();
  std::vector<std::uint32_t> unadmitted();
  void retireLiar();

 private:
  struct Lurking {
    std::string partition = {};  // to be taken over at the worst moment; empty: none is
    Micros until = 0;
  };

  Status retire(node::Replica& by, std::uint32_t leaving, bool lingers);
  void resumeWhatWaits(Seat& at);
  Status join(node::Replica& by);
  Status readmit(node::Replica& by, std::uint64_t n, std::string& who);
  Status admit(node::Replica& by, const std::string& device);

  Cluster& c_;
  Clients& clients_;
  PerDevice<Lurking> lurking_;
  std::uint64_t decided_ = 0;  // numbers the requests of the settling phase
  std::set<std::tuple<std::uint32_t, std::string, std::uint64_t>> overdue_;  // device, partition, entry
};

// Settling: the second phase of a run. Faults have ended and nothing new is asked; operators and counselors do their
// work, and within the time that the options allow everything pending must be done: checker "liveness".
class Settling {
 public:
  Settling(Cluster& cluster, FaultInjector& faults, Operators& operators, const Market& market, Liar& liar)
      : c_(cluster), faults_(faults), operators_(operators), market_(market), liar_(liar) {}
  // The first one begins the phase. Schedules the next, until everything has settled.
  void look();
  bool settled() const { return settled_; }
  const std::string& waitingFor() const { return waitingFor_; }

 private:
  void begin();
  std::string unsettled();
  std::string unsettledBesideLiar();
  std::string runThatWaits();
  std::string unsettledPartition(const std::string& id, const std::vector<Seat*>& members);
  std::string standingsOf(const std::string& id);
  std::string standingOf(const node::Request& request);

  Cluster& c_;
  FaultInjector& faults_;
  Operators& operators_;
  const Market& market_;
  Liar& liar_;
  bool settled_ = false;
  Micros settleBy_ = 0;
  Micros abandonedBy_ = 0;  // runs that nobody has
  std::string waitingFor_;
  std::uint64_t looks_ = 0;
};

}  // namespace witan::sim
