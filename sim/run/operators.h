// Operators and counselors: they move and seize partitions, admit and retire devices, pardon peers, and when a run
// settles, mend what only people can and decide what is pending.
#pragma once

#include "sim/cluster/clients.h"

namespace witan::sim {

class Operators final : public ClusterObserver {
 public:
  Operators(Cluster& cluster, Clients& clients) : c_(cluster), clients_(clients) {}
  void onEvent(Seat& at, const Event& event) override;

  // ---- of the settling phase
  void pardon();
  void admitAgain();
  void seizeOrphans();
  void decideEverything();
  std::vector<std::uint32_t> unadmitted();

 private:
  Status retire(node::Replica& by, std::uint32_t leaving);
  Status join(node::Replica& by);
  Status admit(node::Replica& by, const std::string& device);

  Cluster& c_;
  Clients& clients_;
  std::uint64_t decided_ = 0;  // numbers the requests of the settling phase
};

}  // namespace witan::sim
