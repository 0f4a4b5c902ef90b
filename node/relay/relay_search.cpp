#include "node/relay/relay_search.h"

#include <algorithm>

#include "base/crypto.h"

namespace witan::node {

void RelaySearch::relayCame(const std::string& relay, std::int64_t nowMs) {
  relays_.insert(relay);
  for (auto& [device, wanted] : wanted_) {
    wanted.tried.erase(relay);
    if (wanted.asking.empty()) wanted.dueMs = std::min(wanted.dueMs, nowMs);
  }
}

void RelaySearch::relayWent(const std::string& relay) {
  relays_.erase(relay);
  for (auto& [device, wanted] : wanted_) {
    wanted.tried.erase(relay);
    if (wanted.asking == relay) wanted.asking.clear();
  }
}

void RelaySearch::want(const std::string& device, std::int64_t nowMs, std::int64_t delayMs, const std::string& last) {
  const auto at = wanted_.try_emplace(device, Wanted{.dueMs = nowMs + delayMs});
  if (at.second && !last.empty()) at.first->second.tried.insert(last), at.first->second.present = true;
}

std::optional<RelaySearch::Ask> RelaySearch::next(std::int64_t nowMs) {
  if (nowMs - windowStart_ >= kAskWindowMs) windowStart_ = nowMs, asks_ = 0;
  if (asks_ >= kMostAsks) return std::nullopt;
  while (true) {
    const auto first = firstDue(nowMs);
    if (first == wanted_.end()) return std::nullopt;
    const std::string& device = first->first;
    Wanted& wanted = first->second;
    if (wanted.afreshMs != 0 && nowMs >= wanted.afreshMs)
      wanted.tried.clear(), wanted.afreshMs = 0, wanted.present = false;
    wanted.asking = best(device, wanted);
    if (!wanted.asking.empty()) {
      ++asks_;
      return Ask{wanted.asking, device};
    }
    if (wanted.afreshMs == 0) ++wanted.failures, wanted.afreshMs = nowMs + pauseMs(wanted);
    wanted.dueMs = wanted.afreshMs;
  }
}

// Of those who were refused least, the one that has been due longest.
std::map<std::string, RelaySearch::Wanted, std::less<>>::iterator RelaySearch::firstDue(std::int64_t nowMs) {
  const auto rank = [](const Wanted& wanted) { return std::pair(wanted.refusals, wanted.dueMs); };
  auto first = wanted_.end();
  for (auto at = wanted_.begin(); at != wanted_.end(); ++at)
    if (at->second.asking.empty() && at->second.dueMs <= nowMs && hasRelayFor(at->first) &&
        (first == wanted_.end() || rank(at->second) < rank(first->second)))
      first = at;
  return first;
}

void RelaySearch::failed(const Ask& ask, std::int64_t nowMs, bool absent) {
  const auto at = wanted_.find(ask.device);
  if (at == wanted_.end() || at->second.asking != ask.relay) return;
  at->second.asking.clear();
  at->second.tried.insert(ask.relay);
  at->second.dueMs = nowMs;
  ++at->second.refusals;
  at->second.present = at->second.present || !absent;
  // It is there after all: no pause for one that is off.
  if (!absent && at->second.afreshMs != 0) at->second.afreshMs = std::min(at->second.afreshMs, nowMs + kLongestPauseMs);
}

std::optional<std::int64_t> RelaySearch::nextMs() const {
  std::optional<std::int64_t> soonest;
  for (const auto& [device, wanted] : wanted_)
    if (wanted.asking.empty() && hasRelayFor(device)) soonest = std::min(soonest.value_or(wanted.dueMs), wanted.dueMs);
  if (soonest && asks_ >= kMostAsks) soonest = std::max(*soonest, windowStart_ + kAskWindowMs);
  return soonest;
}

bool RelaySearch::hasRelayFor(std::string_view device) const {
  return relays_.size() > (relays_.contains(device) ? 1 : 0);
}

// Empty: all were tried.
std::string RelaySearch::best(const std::string& device, const Wanted& wanted) const {
  const auto& [first, second] = std::minmax(self_, device);
  std::string chosen;
  Hash lowest{};
  for (const std::string& relay : relays_) {
    if (relay == device || wanted.tried.contains(relay)) continue;
    const Hash rank = sha256("witan relay|" + first + "|" + second + "|" + relay);
    if (chosen.empty() || rank < lowest) chosen = relay, lowest = rank;
  }
  return chosen;
}

std::int64_t RelaySearch::pauseMs(const Wanted& wanted) {
  const std::int64_t first = wanted.present ? kFirstPauseMs : kFirstAbsentPauseMs;
  const std::int64_t longest = wanted.present ? kLongestPauseMs : kLongestAbsentPauseMs;
  const std::int64_t pause = std::min(longest, first << std::min<std::uint64_t>(wanted.failures - 1, 10));
  return pause - static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(pause / 2 + 1)));
}

}  // namespace witan::node
