// PeerLinks: the links that are up, and for each device the one that carries its traffic. A link on probation
// (node/peers/peer_links.h) is up and carries nothing yet; a link of an unenrolled device has no device.
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
  bool served = false;       // Events::connected was told
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

// LinkHistory: how and when the last link with each device ended, and how long to wait before the next dial.
class LinkHistory {
 public:
  struct Past {
    std::string reason;
    std::int64_t endedMs = 0;
    unsigned shortLived = 0;  // links in a row that ended within a second
    unsigned takenOver = 0;   // young links in a row that another connection replaced
    std::int64_t takenOverMs = 0;
  };

  // Returns how long to wait before dialling again; 0: dial at once. Two devices that cannot talk to each other would
  // otherwise try ten times a second.
  std::int64_t recordEnd(const std::string& device, std::string reason, std::int64_t sinceMs, std::int64_t nowMs);
  // A link that worked was replaced by another connection of its device. True: that happens again and again, as where
  // two machines run with one key. `sinceMs`: of the link.
  bool recordTakeover(const std::string& device, std::int64_t sinceMs, std::int64_t nowMs);
  // Null: there was no link.
  const Past* of(const std::string& device) const;

 private:
  std::map<std::string, Past> past_;
};

// LinkProbation: a direct link may come up and carry nothing (small packets pass, large ones do not). A direct link
// that would replace a carried one, or that follows one that went quiet, is on probation first: it has to answer
// heartbeats after a probe, for a time that grows with the number of its predecessors that went quiet.
//
// No I/O: the caller brings the time and the link's counters and carries out the verdict. Belongs to PeerManager.
class LinkProbation {
 public:
  struct Trial {
    net::LinkId link = 0;
    std::int64_t aloneMs = 0;  // since when the device has had no other link
  };

  explicit LinkProbation(std::int64_t heartbeatMs) : heartbeatMs_(heartbeatMs) {}

  void start(const std::string& device, Trial trial) { trials_[device] = trial; }
  std::optional<Trial> end(const std::string& device);
  std::optional<net::LinkId> linkOf(std::string_view device) const;
  bool contains(net::LinkId link) const;
  const std::map<std::string, Trial, std::less<>>& all() const { return trials_; }
  // The device's other link has ended.
  void lostOther(std::string_view device, std::int64_t nowMs);
  // Whether the link of this trial becomes the device's link now: it passed, or no other way appeared.
  bool passes(std::string_view device, bool hasOther, std::uint64_t pongs, std::int64_t upSinceMs,
              std::int64_t nowMs) const;
  std::int64_t checkEveryMs() const;

  // A direct link ended. One that lasted clears the count: a path that broke after days begins with a short trial.
  void recordEnd(const std::string& device, bool wentQuiet, std::int64_t upForMs);
  // Whether direct links with this device went quiet lately.
  bool suspects(std::string_view device) const { return quietLinks(device) > 0; }

 private:
  unsigned quietLinks(std::string_view device) const;
  // None at first; 8 heartbeats after one link that went quiet, then 32, 128, 512.
  std::int64_t trialMs(std::string_view device) const;

  const std::int64_t heartbeatMs_;
  std::map<std::string, Trial, std::less<>> trials_;
  std::map<std::string, unsigned, std::less<>> quiet_;  // direct links that went quiet, since one that lasted
};

}  // namespace witan::node
