// Admission: decides by the roster, and by the operator's blocks, which links may exist.
//
// No I/O. Belongs to PeerManager. The roster store outlives it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/peer_network.h"
#include "node/cluster/roster_store.h"

namespace witan::node {

class Admission {
 public:
  Admission(const RosterStore& rosters, std::string device) : rosters_(rosters), self_(std::move(device)) {}

  // A link whose handshake succeeded. The error is the reason that the other end reads.
  Status admit(const net::LinkInfo& info) const;
  // The member at the other end of a link that is up now. The roster, or an operator, may have changed since admit():
  // their lists do not contain a link that is coming up.
  Result<const RosterDevice*> confirm(const PublicKey& key) const;
  // ok: a link with this device may exist.
  Status mayLink(std::string_view device) const;
  // The same, and this device should dial it.
  bool mayDial(const RosterDevice& device) const;

  // For drills: no link with this device until unblock().
  void block(const std::string& device) { blocked_.insert(device); }
  bool unblock(const std::string& device) { return blocked_.erase(device) > 0; }
  bool isBlocked(std::string_view device) const { return blocked_.contains(device); }

 private:
  const RosterStore& rosters_;
  const std::string self_;
  std::set<std::string, std::less<>> blocked_;
};

}  // namespace witan::node
