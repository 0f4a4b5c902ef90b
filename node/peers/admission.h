// Admission: decides by the roster, and by blocks, which links may exist.
//
// No I/O. Belongs to PeerManager. The roster store outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

  // No link with this device until unblock(). `why`: for its other end.
  void block(const std::string& device, std::string why) { blocked_[device] = std::move(why); }
  bool unblock(const std::string& device) { return blocked_.erase(device) > 0; }
  // Why; empty: it is not blocked.
  std::string whyBlocked(std::string_view device) const;

 private:
  Status notBlocked(std::string_view device) const;

  const RosterStore& rosters_;
  const std::string self_;
  std::map<std::string, std::string, std::less<>> blocked_;  // device -> why
};

// PendingPeers: the links of devices that are not enrolled yet. Their number is bounded, and so are the requests on
// each, so that unenrolled devices cannot displace members.
inline constexpr std::size_t kMaxPendingPeers = 16;
inline constexpr std::size_t kMaxLargeFrames = 4;  // of them that may send a frame beyond the usual size: 8 MiB in all
inline constexpr std::size_t kMaxOffers = 8;  // of rosters in kOfferMs, one of each host; and so many of members' hosts
inline constexpr std::int64_t kOfferMs = 10'000;
inline constexpr unsigned kMaxJoinRequests = 4;  // on one link: a device that waits to be approved asks again

class PendingPeers {
 public:
  // Returns the link that must end for this one: the one that came up first, because it had the most time to ask. Links
  // that stay and do not ask can therefore not keep others from joining.
  std::optional<net::LinkId> add(net::LinkId link, std::int64_t nowMs);
  // False: too many requests on this link, or it is not pending.
  bool countRequest(net::LinkId link);
  // Whether this host may offer a roster now. To check one costs up to a second. Hosts at which a member was reached
  // have places of their own: strangers keep no member's offer out.
  bool takesOffer(const std::string& host, bool ofMember, std::int64_t nowMs);
  bool remove(net::LinkId link) { return pending_.erase(link) > 0; }
  std::size_t size() const { return pending_.size(); }

 private:
  struct Pending {
    std::int64_t sinceMs = 0;
    unsigned requests = 0;
  };
  std::map<net::LinkId, Pending> pending_;
  std::map<std::string, std::int64_t> offers_[2];  // host -> when; of strangers, of members
};

}  // namespace witan::node
