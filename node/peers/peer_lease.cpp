// PeerManager: the roster's lease, and the clocks by which it is judged.
#include <algorithm>

#include "base/time.h"
#include "node/peers/peer_manager.h"

namespace witan::node {

namespace {

constexpr std::int64_t kLeastLeaseCheckMs = 250, kMostLeaseCheckMs = 600'000;
constexpr const char* kClockDiffers = "clockDiffers";

}  // namespace

void PeerManager::compareClocks(const std::string& device, const RosterGossip::Heard& heard) {
  if (!device.empty()) {
    const auto words = clocks_.heard(device, heard.sent, events_.wall());
    if (words) events_.over(kClockDiffers, device);
    if (words && !words->empty())
      events_.alarm(
          kClockDiffers, device,
          *words + ": set the one that is wrong, since leases, expiries and the times of decisions follow it");
  }
  if (heard.oddDate.empty()) return;
  if (network_.mayLog()) log_.warn("roster", heard.oddDate, {{"from", device.empty() ? "an offer" : device}});
  events_.alarm(
      kClockDiffers, "",
      "the word of the admin's device is of a time that is more than an hour ahead of this device's clock: set "
      "the clock that is wrong, or the lease of the roster ends here");
}

bool PeerManager::stale() const {
  const Time dated = rosters_.date().at;
  if (options_.rosterLeaseMs <= 0 || dated.micros == 0 || enrolment_.isAdmin()) return false;
  return (events_.wall().micros - dated.micros) / 1000 > options_.rosterLeaseMs;
}

void PeerManager::keepLease() {
  const std::int64_t lease = options_.rosterLeaseMs;
  const Time dated = rosters_.date().at;
  if (enrolment_.isAdmin()) {
    enrolment_.stampRoster(events_.wall());
    dateChanged("");
  } else if (stale()) {
    endAll(kStaleRoster, true);
    const std::string ahead = clocks_.ahead();
    events_.alarm(
        "staleRoster", "",
        concat(ahead.empty() ? "" : ahead + ": by it there is ", "no word of the admin's device since ",
               formatTime(dated), ", which is longer than [peers] roster_lease_seconds: this device serves no ",
               ahead.empty() ? "other until it hears from that one, or from a device that has"
                             : "other until the clock that is wrong is set"));
  } else if (lease > 0 && dated.micros > 0 && (events_.wall().micros - dated.micros) / 500 > lease && !warned_) {
    warned_ = true;
    log_.warn("roster", "half of its lease is over without a word of the admin's device",
              {{"since", formatTime(dated)}});
  }
  later(std::clamp(lease > 0 ? lease / 4 : kMostLeaseCheckMs, kLeastLeaseCheckMs, kMostLeaseCheckMs),
        [this] { keepLease(); });
}

void PeerManager::dateChanged(std::string_view from) {
  warned_ = false;
  for (const auto& [device, id] : links_.chosen())
    if (device != from) (void)network_.send(id, gossip_.dateFrame(events_.wall()));
  if (stale()) return;
  events_.over("staleRoster", "");
  // Of its link nothing was dropped: the roster is what a device says first.
  PeerLink* link = links_.of(from);
  if (link != nullptr && !link->served && link->framesIn == 1) {
    link->served = true;
    events_.connected(link->device);
  }
  endAll("the roster of this device is fresh again", false);
}

void PeerManager::endAll(std::string_view why, bool served) {
  std::vector<net::LinkId> ending;
  for (const auto& [device, id] : links_.chosen())
    if (links_.find(id)->served == served) ending.push_back(id);
  for (const net::LinkId id : ending) end(id, why);
}

}  // namespace witan::node
