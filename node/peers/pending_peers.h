// PendingPeers: the links of devices that are not enrolled yet. Their number is bounded, and so are the requests on
// each, so that unenrolled devices cannot displace members.
//
// No I/O. Belongs to PeerManager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "net/peer_network.h"

namespace witan::node {

inline constexpr std::size_t kMaxPendingPeers = 16;
inline constexpr unsigned kMaxJoinRequests = 4;  // on one link: a device that waits to be approved asks again

class PendingPeers {
 public:
  // Returns the link that must end for this one: the one that came up first, because it had the most time to ask. Links
  // that stay and do not ask can therefore not keep others from joining.
  std::optional<net::LinkId> add(net::LinkId link, std::int64_t nowMs);
  // False: too many requests on this link, or it is not pending.
  bool countRequest(net::LinkId link);
  bool remove(net::LinkId link) { return pending_.erase(link) > 0; }

 private:
  struct Pending {
    std::int64_t sinceMs = 0;
    unsigned requests = 0;
  };
  std::map<net::LinkId, Pending> pending_;
};

}  // namespace witan::node
