// RequestRights: which requests a member may make, by its roles in the roster, and how many of some kinds.
//
// Main thread only. The roster store outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "mcp/call.h"
#include "node/cluster/roster_store.h"
#include "replica/core/messages.h"

namespace witan::node {

// What a member that may not begin everything begins at once, and a second.
inline constexpr std::int64_t kBegunAtOnce = 1000, kBegunPerSecond = 1;
// Requests of one member that it may not make, before its link ends for a while. Its own node refuses them already.
inline constexpr std::int64_t kRefusedAtOnce = 100, kRefusedPerSecond = 1;
inline constexpr std::int64_t kSuspendedMs = 60'000;

class RequestRights {
 public:
  // Does a proposal stay within the rows of one of these keys? Of what another device owns: yes, its owner asks.
  using Within = std::function<bool(const Request&, std::span<const std::string> keys)>;
  // `abuse`: a member makes many requests that it may not make.
  RequestRights(const RosterStore& rosters, std::string self, Within within,
                std::function<void(const std::string& device)> abuse)
      : rosters_(rosters), self_(std::move(self)), within_(std::move(within)), abuse_(std::move(abuse)) {}

  // Errors say what it may not. Requests of this device have no limit.
  Status mayAsk(std::string_view device, const Request& request, std::int64_t nowMs);
  // A member made a request of another kind that it may not make, or makes again.
  void refused(std::string_view device, std::int64_t nowMs);

 private:
  Status allowed(const RosterDevice& device, const Request& request) const;
  struct Limits {
    mcp::RateLimit begun{kBegunAtOnce, kBegunPerSecond}, refused{kRefusedAtOnce, kRefusedPerSecond};
  };

  const RosterStore& rosters_;
  const std::string self_;
  const Within within_;
  const std::function<void(const std::string&)> abuse_;
  std::map<std::string, Limits, std::less<>> limits_;  // by device
};

}  // namespace witan::node
