// CutOff: whose frames a device takes no more, since one came that it could not take. The link ends with the step.
#pragma once

#include <set>
#include <utility>

#include "sim/cluster/seat.h"

namespace witan::sim {

class CutOff {
 public:
  void onStarted(Seat& at) { of_[at] = {}; }
  void onDurable(Seat& at) { of_[at] = {.badFrames = at.replica().counters().badFrames}; }

  // Whether the device has taken the frame that it was handed.
  bool took(Seat& at, std::uint32_t peer) {
    Of& of = of_[at];
    const std::uint64_t bad = at.replica().counters().badFrames;
    if (std::exchange(of.badFrames, bad) != bad) of.peers.insert(peer);
    return !of.peers.contains(peer);
  }
  bool isCut(Seat& at, std::uint32_t peer) { return of_[at].peers.contains(peer); }

 private:
  struct Of {
    std::uint64_t badFrames = 0;
    std::set<std::uint32_t> peers = {};
  };
  PerDevice<Of> of_;
};

}  // namespace witan::sim
