#include "node/peers/peer_links.h"

#include <algorithm>

namespace witan::node {

namespace {

constexpr std::int64_t kShortLifeMs = 1'000;
constexpr std::int64_t kYoungMs = 90'000;  // the longest wait between two dials is 64 s
constexpr unsigned kTakeovers = 5;

constexpr std::int64_t kCheckMs = 1'000;
constexpr std::int64_t kAloneMs = 3'000;      // for a relay to be found, before this link is the only choice
constexpr std::int64_t kLongLifeMs = 60'000;  // after its trial: a link that lasted
constexpr std::uint64_t kPongs = 2;           // the second ping leaves after the probe
constexpr unsigned kMostQuiet = 4;            // a trial of 43 minutes, with 5 s between heartbeats

}  // namespace

PeerLink* PeerLinks::find(net::LinkId id) {
  const auto at = links_.find(id);
  return at == links_.end() ? nullptr : &at->second;
}

std::optional<PeerLink> PeerLinks::remove(net::LinkId id) {
  auto removed = links_.extract(id);
  if (removed.empty()) return std::nullopt;
  const auto chosen = chosen_.find(removed.mapped().device);
  if (chosen != chosen_.end() && chosen->second == id) chosen_.erase(chosen);
  return std::move(removed.mapped());
}

PeerLink* PeerLinks::of(std::string_view device) {
  const auto at = chosen_.find(device);
  return at == chosen_.end() ? nullptr : find(at->second);
}

const PeerLink* PeerLinks::of(std::string_view device) const {
  const auto at = chosen_.find(device);
  return at == chosen_.end() ? nullptr : &links_.at(at->second);
}

bool PeerLinks::mayBeRelayed(std::string_view device) const {
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [&](const auto& one) { return one.first != device && links_.at(one.second).direct(); });
}

bool replacesLink(const net::LinkInfo& old, const net::LinkInfo& fresh, bool hasSmallerId) {
  if (old.via.empty() != fresh.via.empty()) return fresh.via.empty();
  return fresh.dialled == hasSmallerId || old.dialled != hasSmallerId;
}

std::int64_t LinkHistory::recordEnd(const std::string& device, std::string reason, std::int64_t sinceMs,
                                    std::int64_t nowMs) {
  Past& past = past_[device];
  past.shortLived = nowMs - sinceMs < kShortLifeMs ? past.shortLived + 1 : 0;
  past.reason = std::move(reason);
  past.endedMs = nowMs;
  return past.shortLived > 2 ? 1'000LL << std::min(past.shortLived, 6u) : 0;
}

bool LinkHistory::recordTakeover(const std::string& device, std::int64_t sinceMs, std::int64_t nowMs) {
  Past& past = past_[device];
  const bool again = nowMs - sinceMs < kYoungMs && nowMs - past.takenOverMs < kYoungMs;
  past.takenOver = again ? past.takenOver + 1 : 1;
  past.takenOverMs = nowMs;
  return past.takenOver == kTakeovers;
}

const LinkHistory::Past* LinkHistory::of(const std::string& device) const {
  const auto at = past_.find(device);
  return at == past_.end() ? nullptr : &at->second;
}

std::optional<LinkProbation::Trial> LinkProbation::end(const std::string& device) {
  auto trial = trials_.extract(device);
  return trial.empty() ? std::nullopt : std::optional(trial.mapped());
}

std::optional<net::LinkId> LinkProbation::linkOf(std::string_view device) const {
  const auto at = trials_.find(device);
  return at == trials_.end() ? std::nullopt : std::optional(at->second.link);
}

bool LinkProbation::contains(net::LinkId link) const {
  return std::any_of(trials_.begin(), trials_.end(), [&](const auto& one) { return one.second.link == link; });
}

void LinkProbation::lostOther(std::string_view device, std::int64_t nowMs) {
  if (const auto at = trials_.find(device); at != trials_.end()) at->second.aloneMs = nowMs;
}

bool LinkProbation::passes(std::string_view device, bool hasOther, std::uint64_t pongs, std::int64_t upSinceMs,
                           std::int64_t nowMs) const {
  const auto at = trials_.find(device);
  if (at == trials_.end()) return false;
  const bool onlyChoice = !hasOther && nowMs - at->second.aloneMs >= kAloneMs;
  return onlyChoice || (pongs >= kPongs && nowMs - upSinceMs >= trialMs(device));
}

std::int64_t LinkProbation::checkEveryMs() const { return std::min(kCheckMs, heartbeatMs_); }

void LinkProbation::recordEnd(const std::string& device, bool wentQuiet, std::int64_t upForMs) {
  const bool lasted = upForMs >= trialMs(device) + kLongLifeMs;
  unsigned& quiet = quiet_[device];
  if (lasted) quiet = 0;
  if (wentQuiet) quiet = std::min(quiet + 1, kMostQuiet);
}

unsigned LinkProbation::quietLinks(std::string_view device) const {
  const auto at = quiet_.find(device);
  return at == quiet_.end() ? 0 : at->second;
}

std::int64_t LinkProbation::trialMs(std::string_view device) const {
  const unsigned quiet = quietLinks(device);
  return quiet == 0 ? 0 : (2 * heartbeatMs_) << (2 * quiet);
}

}  // namespace witan::node
