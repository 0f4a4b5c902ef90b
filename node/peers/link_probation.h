// LinkProbation: a direct link may come up and carry nothing (small packets pass, large ones do not). A direct link
// that would replace a carried one, or that follows one that went quiet, is on probation first: it has to answer
// heartbeats after a probe, for a time that grows with the number of its predecessors that went quiet.
//
// No I/O: the caller brings the time and the link's counters and carries out the verdict. Belongs to PeerManager.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "net/peer_network.h"

namespace witan::node {

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
