// Direct links on trial: beside a carried link, or when the last direct one went quiet. See node/peers/peer_desk.h.
#include <algorithm>

#include "node/peers/peer_desk.h"

namespace witan::node {

namespace {

constexpr std::int64_t kLookMs = 1'000;       // how often a trial is looked at
constexpr std::int64_t kAloneMs = 3'000;      // for a relay to be found, before there is no other choice
constexpr std::int64_t kLongLifeMs = 60'000;  // after its trial: a link that lasted
constexpr std::uint64_t kPongs = 2;           // the second ping goes out after the probe
constexpr unsigned kMostQuiet = 4;            // a trial of 43 minutes, with 5 s between heartbeats

}  // namespace

bool PeerDesk::needsTrial(const std::string& device) const {
  if (const Link* link = linkOf(device)) return !link->info.via.empty();
  const auto past = past_.find(device);
  const auto mayCarry = [&](const auto& one) {
    return one.first != device && links_.find(one.second)->second.info.via.empty();
  };
  return past != past_.end() && past->second.quiet > 0 && std::any_of(byDevice_.begin(), byDevice_.end(), mayCarry);
}

void PeerDesk::tryOut(const net::LinkInfo& info, const std::string& device) {
  endTrial(device, "another link took its place");
  trials_[device] = {info.id, events_.steadyMs()};
  if (!info.dialled) undial(device);  // until it ends
  log_.debug("peers", "a direct link is on trial", {{"id", device}, {"address", info.address}});
  network_.probe(info.id);
  judgeLater(device, info.id);
}

void PeerDesk::judgeLater(const std::string& device, net::LinkId id) {
  loop_.after(std::min(kLookMs, options_.heartbeatMs), [this, device, id, alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) judge(device, id);
  });
}

void PeerDesk::judge(const std::string& device, net::LinkId id) {
  const auto trial = trials_.find(device);
  const auto stats = network_.stats(id);
  if (trial == trials_.end() || trial->second.link != id || !stats) return;  // its end is under way
  const std::int64_t now = events_.steadyMs();
  const bool onlyChoice = !byDevice_.contains(device) && now - trial->second.aloneMs >= kAloneMs;
  const bool passed = stats->pongs >= kPongs && now - links_.find(id)->second.sinceMs >= trialMs(device);
  if (onlyChoice || passed) return take(id);
  judgeLater(device, id);
}

bool PeerDesk::onTrial(net::LinkId id) const {
  return std::any_of(trials_.begin(), trials_.end(), [&](const auto& one) { return one.second.link == id; });
}

void PeerDesk::endTrial(const std::string& device, std::string_view why) {
  const auto trial = trials_.find(device);
  if (trial == trials_.end()) return;
  const net::LinkId id = trial->second.link;
  trials_.erase(trial);
  links_.erase(id);
  network_.close(id, why);
}

// Its other end may have lost its power, and be back before that is noticed: it holds up no other link.
void PeerDesk::endQuietTrial(const std::string& device) {
  const auto trial = trials_.find(device);
  if (trial == trials_.end() || !network_.quiet(trial->second.link)) return;
  Link& link = links_.find(trial->second.link)->second;
  link.quiet = true;
  countQuiet(link);
  endTrial(device, "it went quiet, and there is another link");
}

// Lasting is judged by what it had to prove: a path that broke once after days begins with a short trial again.
bool PeerDesk::hasLasted(const Link& link) const {
  return events_.steadyMs() - link.sinceMs >= trialMs(link.device) + kLongLifeMs;
}

void PeerDesk::countQuiet(const Link& link) {
  const bool lasted = hasLasted(link);
  unsigned& quiet = past_[link.device].quiet;
  if (lasted) quiet = 0;
  if (link.quiet) quiet = std::min(quiet + 1, kMostQuiet);
}

// None at first; 8 heartbeats after one that went quiet, then 32, 128, 512.
std::int64_t PeerDesk::trialMs(const std::string& device) const {
  const auto past = past_.find(device);
  const unsigned quiet = past == past_.end() ? 0 : past->second.quiet;
  return quiet == 0 ? 0 : (2 * options_.heartbeatMs) << (2 * quiet);
}

}  // namespace witan::node
