// FaultInjector: the faults of a plan begin and end: on links, devices, disks, clocks, tools and etcd.
#pragma once

#include <optional>

#include "sim/cluster/cluster.h"

namespace witan::sim {

class FaultInjector final : public ClusterObserver {
 public:
  explicit FaultInjector(Cluster& cluster) : c_(cluster) {}
  // `number`: the event's place in the plan.
  void begin(const Event& event, std::uint64_t number);
  void end(std::uint64_t number);
  // The settling phase begins: disks and the network are whole again.
  void endAll();
  // Power that fails in the middle of a saga.
  void beforeDrain(Seat& at) override;
  // A clock that is set while its device is off.
  void onStopped(Seat& at) override;

 private:
  struct Strike {
    std::size_t store = 0;
    std::uint64_t steps = 0;
    store::Moment moment = store::Moment::before;
    Micros until = 0;
    std::optional<std::uint64_t> held = {};  // not before more than this was put aside
    bool alone = false;                      // also if nothing else goes on
    Micros clockBy = 0;                      // its wall clock, before the device starts again
  };
  struct Image {
    Micros at = -1;  // of the copy of its disks; -1: none
  };
  Micros clockBy(const Event& event) const;
  void blockAll(const Event& event, bool block);
  bool blockEtcd(const Event& event, bool block);
  void hostile(const Event& event, std::uint64_t number, std::uint64_t round);
  void hostileFrames(std::uint32_t device, std::uint32_t other, std::uint64_t seed);
  void flap(const Event& event, std::uint64_t number, std::uint64_t round);
  void rot(const Event& event);
  void comeBack(const Event& event);
  std::string absurdFrame(std::uint32_t device, std::uint32_t other, Random& random);
  std::string context(std::uint32_t device, std::uint32_t other, Random& random);
  std::string acknowledgement(std::uint32_t device, std::uint32_t other, Random& random);

  Cluster& c_;
  PerDevice<std::optional<Strike>> strikes_;
  PerDevice<Image> imageAt_;
  PerDevice<Micros> clockBy_;  // of a device that is about to lose its power
};

}  // namespace witan::sim
