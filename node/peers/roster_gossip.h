// RosterGossip: receives the signed roster from peers, and compares it with the version that the links were judged by.
//
// No network: PeerManager sends frame() and carries out what the comparison says. The roster store outlives it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "node/cluster/roster_store.h"

namespace witan::node {

class RosterGossip {
 public:
  // `device`: this one.
  explicit RosterGossip(RosterStore& rosters, std::string device = {})
      : rosters_(rosters), device_(std::move(device)) {}

  // The present roster with its date, or the date alone, for a peer.
  std::string frame(Time now) const;
  std::string dateFrame(Time now) const;
  // The roster that parts from it; empty: there is none.
  std::string partedFrame() const;
  // For a device that is no member any more: that it was revoked, and nothing of the others.
  std::string farewell(std::string_view device) const;
  // Whether the roster changed, and its date. Errors: not a roster, or not a date, of this cluster's admin.
  struct Heard {
    bool roster = false, date = false;
    std::string oddDate;  // why the date was not taken; empty: it was, or was no later one
    Time sent;            // by the sender's clock; 0: it does not say
  };
  Result<Heard> receive(std::string_view frame, Time now);

  // Why the links with this device must end; empty: they stay.
  std::string whyLinksEnd(std::string_view device) const;
  // Whether the present dials of this device must stop.
  bool dialsEnd(const RosterDevice& device) const;
  // Links and dials follow this version of the device from now on.
  void apply(const RosterDevice& device) { applied_[device.device] = device; }

  // The roster counts, but is not on disk, and no retry is under way: one begins.
  bool startSaving();
  // Returns whether the roster is on disk now.
  bool retrySaving();

 private:
  const RosterDevice& before(std::string_view device) const;

  RosterStore& rosters_;
  const std::string device_;
  std::map<std::string, RosterDevice, std::less<>> applied_;
  bool saving_ = false;
};

}  // namespace witan::node
