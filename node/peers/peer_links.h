// PeerLinks: the links that are up, and for each device the one that carries its traffic. A link on probation
// (node/peers/link_probation.h) is up and carries nothing yet; a link of an unenrolled device has no device.
//
// No I/O. Belongs to PeerManager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/peer_network.h"

namespace witan::node {

struct PeerLink {
  std::string device;  // empty: not enrolled
  net::LinkInfo info;
  std::uint64_t framesIn = 0, bytesIn = 0, bytesOut = 0;
  std::int64_t sinceMs = 0;
  bool quiet = false;        // net::PeerEvents::quiet
  std::string tunnelReason;  // why its tunnel ended

  bool direct() const { return info.via.empty(); }
};

class PeerLinks {
 public:
  void add(PeerLink link) { links_.insert_or_assign(link.info.id, std::move(link)); }
  PeerLink* find(net::LinkId id);
  // Of a device that has chosen this one, the choice goes too.
  std::optional<PeerLink> remove(net::LinkId id);

  void choose(net::LinkId id) { chosen_[find(id)->device] = id; }
  // The link that carries the device's traffic. Null: none.
  PeerLink* of(std::string_view device);
  const PeerLink* of(std::string_view device) const;
  const std::map<std::string, net::LinkId, std::less<>>& chosen() const { return chosen_; }
  // Whether a device other than this one has a direct link, and so may carry for it.
  bool mayBeRelayed(std::string_view device) const;

 private:
  std::map<net::LinkId, PeerLink> links_;
  std::map<std::string, net::LinkId, std::less<>> chosen_;
};

// Of two links between the same devices, both ends keep the direct one, else the one that the smaller id dialled; so
// they agree without a message.
bool replacesLink(const net::LinkInfo& old, const net::LinkInfo& fresh, bool hasSmallerId);

}  // namespace witan::node
