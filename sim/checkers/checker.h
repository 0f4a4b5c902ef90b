// Checker: looks at a run through the moments of ClusterObserver, and at the devices when everything has come to rest
// (atEnd). It reports with Cluster::failed() under a name of sim/catalog.h. A new one is a class in a file here, and
// stands in the lists of checker_list.cpp.
#pragma once

#include "sim/check/operation.h"
#include "sim/cluster/cluster.h"

namespace witan::sim {

class Checker : public ClusterObserver {
 public:
  // Every device has settled; retired ones do not count.
  virtual void atEnd() {}

 protected:
  explicit Checker(Cluster& cluster) : c_(cluster) {}

  // What the frame says of its sender's logs; none: it is another one, the link is not full, there is etcd, or the
  // sender is a liar, so that nothing of it need be so.
  std::optional<node::PeerAdvertisement> standingIn(Seat& at, std::uint32_t peer, std::string_view frame) const;
  // By any device, heard or not.
  static std::optional<node::PeerAdvertisement> standingIn(std::string_view frame);

  Cluster& c_;
};

// Every checker of a run, in the order in which they look: of several failures in one moment the first is reported.
std::vector<std::unique_ptr<Checker>> makeCheckers(Cluster& cluster);

// The log of a partition that the device has.
Result<PartitionLog> logAt(Seat& at, const std::string& id);

}  // namespace witan::sim
