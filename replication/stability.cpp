#include "replication/stability.h"

#include <algorithm>

#include "base/concat.h"

namespace witan::replication {

namespace {

// `told`: others said what it has.
std::string describe(const Holdup& holdup, bool told) {
  std::string text = concat(holdup.device, " holds up the tidying of ", holdup.spaces.size(),
                            holdup.spaces.size() == 1 ? " space" : " spaces", ": ");
  if (!holdup.silentMs) return text + (told ? "only others tell of it here" : "nothing was ever heard of it");
  constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;
  text += concat("silent for ", *holdup.silentMs / kDayMs, " days");
  if (holdup.alarm) text += "; connect it, or retire it if it is lost";
  return text;
}

}  // namespace

bool AckTable::record(std::string_view space, std::string_view device, const VectorClock& committed,
                      std::int64_t atMs) {
  auto heard = heardMs_.find(device);
  if (heard == heardMs_.end()) heard = heardMs_.emplace(device, atMs).first;
  heard->second = std::max(heard->second, atMs);
  if (const auto devices = spaces_.find(space); devices != spaces_.end())
    if (const auto known = devices->second.find(device); known != devices->second.end())
      return !le(committed, known->second) && (known->second.join(committed), true);
  if (committed.empty()) return false;
  spaces_[std::string(space)][std::string(device)].join(committed);
  return true;
}

void AckTable::expect(std::string_view device, std::int64_t atMs) { heardMs_.try_emplace(std::string(device), atMs); }

bool AckTable::join(const AckTable& other, std::int64_t atMs) {
  bool news = false;
  for (const auto& [space, devices] : other.spaces_) {
    for (const auto& [device, clock] : devices) {
      // Gossip that repeats itself does not show that the device lives.
      if (le(clock, acked(space, device))) continue;
      news = record(space, device, clock, atMs) || news;
    }
  }
  return news;
}

void AckTable::keepOnly(std::span<const std::string> devices) {
  const auto gone = [&](const auto& entry) { return !std::ranges::binary_search(devices, entry.first); };
  for (auto& [space, each] : spaces_) std::erase_if(each, gone);
  std::erase_if(spaces_, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(heardMs_, gone);
}

const VectorClock* AckTable::find(std::string_view space, std::string_view device) const {
  const auto devices = spaces_.find(space);
  if (devices == spaces_.end()) return nullptr;
  const auto at = devices->second.find(device);
  return at == devices->second.end() ? nullptr : &at->second;
}

VectorClock AckTable::acked(std::string_view space, std::string_view device) const {
  const VectorClock* known = find(space, device);
  return known == nullptr ? VectorClock{} : *known;
}

VectorClock AckTable::stable(std::string_view space, std::span<const std::string> devices) const {
  VectorClock least;
  std::vector<const VectorClock*> clocks;
  for (const std::string& device : devices) {
    clocks.push_back(find(space, device));
    if (clocks.back() == nullptr) return least;
  }
  if (clocks.empty()) return least;
  for (const auto& [writer, first] : clocks.front()->entries()) {
    std::uint64_t counter = first;
    for (std::size_t i = 1; i < clocks.size() && counter > 0; ++i) counter = std::min(counter, clocks[i]->at(writer));
    least.set(writer, counter);
  }
  return least;
}

Hash AckTable::digest() const {
  // Ids contain neither spaces nor line ends.
  Sha256 hash;
  hash.update("witan acks 1\n");
  for (const auto& [space, devices] : spaces_)
    for (const auto& [device, clock] : devices)
      for (const auto& [writer, counter] : clock.entries())
        hash.update(concat(space, ' ', device, ' ', writer, ' ', counter, '\n'));
  return hash.finish();
}

std::vector<Holdup> AckTable::holdups(const WaitedFor& waitedFor, std::int64_t nowMs, std::int64_t limitMs) const {
  std::map<std::string, std::vector<std::string>> lacking;  // device -> spaces
  for (const auto& [space, each] : spaces_) {
    VectorClock known;
    const std::vector<std::string> devices = waitedFor(space);
    for (const std::string& device : devices) known.join(acked(space, device));
    for (const std::string& device : devices)
      if (!le(known, acked(space, device))) lacking[device].push_back(space);
  }
  std::vector<Holdup> all;
  for (auto& [device, spaces] : lacking) {
    Holdup holdup{device};
    holdup.spaces = std::move(spaces);
    const auto heard = heardMs_.find(device);
    if (heard != heardMs_.end() && heard->second > 0)  // 0: what others say of it has no time
      holdup.silentMs = std::max<std::int64_t>(0, nowMs - heard->second);
    holdup.alarm = holdup.silentMs && *holdup.silentMs >= limitMs;
    holdup.text = describe(holdup, heard != heardMs_.end());
    all.push_back(std::move(holdup));
  }
  std::ranges::sort(all, [](const Holdup& a, const Holdup& b) {
    if (a.silentMs.has_value() != b.silentMs.has_value()) return !a.silentMs.has_value();
    return a.silentMs == b.silentMs ? a.device < b.device : a.silentMs > b.silentMs;
  });
  return all;
}

}  // namespace witan::replication
