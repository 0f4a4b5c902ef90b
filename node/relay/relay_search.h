// RelaySearch: whom to ask for a way to the devices that this one cannot reach, and when.
//
//   want(device)  ->  next(): ask this relay  ->  failed(): the next relay, or a pause when all were asked
//                                             ->  leave(): it is linked, or not wanted any more
//
// One relay at a time is asked for a device, in an order that depends on the pair and the relay, so that both ends
// begin with the same one and pairs spread over the relays. When all have said no there is a pause, doubled each time
// and jittered down to half; a relay that is new is asked at once. If none has a link with the device, it is most
// likely off: the pauses are longer then, and when it is back it looks for a way itself. Whoever was refused least is
// next, so that a link which has just lost its relay waits for no device that is off.
//
// Values; time comes as an argument, chance from the seed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/seams.h"

namespace witan::node {

class RelaySearch {
 public:
  struct Ask {
    std::string relay, device;
  };
  static constexpr std::int64_t kFirstPauseMs = 500, kLongestPauseMs = 30'000;
  static constexpr std::int64_t kFirstAbsentPauseMs = 4'000,
                                kLongestAbsentPauseMs = 600'000;  // nobody has a link with it
  // So few in a while that a relay seldom refuses them for their number (TunnelLimits::opens).
  static constexpr std::size_t kMostAsks = 48;
  static constexpr std::int64_t kAskWindowMs = 10'000;

  RelaySearch(std::string self, std::uint64_t seed) : self_(std::move(self)), random_(seed) {}

  // A device is directly linked: it could be asked. And no more.
  void relayCame(const std::string& relay, std::int64_t nowMs);
  void relayWent(const std::string& relay);

  // From `delayMs` on; one that is wanted already stays as it is.
  // `last`: a relay that has just failed, to be asked after the others; empty: none.
  void want(const std::string& device, std::int64_t nowMs, std::int64_t delayMs = 0, const std::string& last = "");
  void leave(const std::string& device) { wanted_.erase(device); }

  // To be asked now; call until there is none.
  std::optional<Ask> next(std::int64_t nowMs);
  // This ask led to nothing. `absent`: because the relay has no link with the device.
  void failed(const Ask& ask, std::int64_t nowMs, bool absent = false);
  // When next() may have something, if nothing else happens.
  std::optional<std::int64_t> nextMs() const;

 private:
  struct Wanted {
    std::int64_t dueMs = 0, afreshMs = 0;  // afresh: all were tried, and may be again from then on; 0: not so
    std::uint64_t failures = 0;            // rounds of all relays
    std::uint64_t refusals = 0;            // of single ones
    bool present = false;                  // in this round one failed for another reason than that it has no link
    std::set<std::string, std::less<>> tried;
    std::string asking;  // empty: nobody
  };

  std::string best(const std::string& device, const Wanted& wanted) const;
  bool hasRelayFor(std::string_view device) const;
  std::map<std::string, Wanted, std::less<>>::iterator firstDue(std::int64_t nowMs);
  std::int64_t pauseMs(const Wanted& wanted);

  const std::string self_;
  SeededRandom random_;
  std::set<std::string, std::less<>> relays_;
  std::map<std::string, Wanted, std::less<>> wanted_;
  std::int64_t windowStart_ = 0;
  std::size_t asks_ = 0;
};

}  // namespace witan::node
