#include "node/peers/peer_clocks.h"

#include <algorithm>
#include <cstdlib>

#include "base/concat.h"

namespace witan::node {

namespace {

constexpr std::int64_t kSecond = 1'000'000, kHour = 3600 * kSecond, kDay = 24 * kHour;

// Coarse: the words are an incident's, and stay as long as the clocks do.
std::string wordsOf(std::string_view device, std::int64_t apart) {
  const std::int64_t size = std::abs(apart);
  const bool days = size >= 2 * kDay;
  const std::int64_t count = days ? size / kDay : std::max<std::int64_t>(1, size / kHour);
  return concat("the clock of this device is about ", count, days ? " day" : " hour", count == 1 ? "" : "s",
                apart > 0 ? " ahead of" : " behind", " that of ", device);
}

}  // namespace

std::optional<std::string> PeerClocks::heard(std::string_view device, Time sent, Time now) {
  if (sent.micros == 0) return std::nullopt;  // an older program does not say it
  const auto at = apart_.find(device);
  const std::string before = at == apart_.end() ? "" : wordsOf(device, at->second);
  const std::int64_t apart = now.micros - sent.micros;
  std::string words;
  if (std::abs(apart) > kHour)
    words = wordsOf(device, apart), apart_[std::string(device)] = apart;
  else if (at != apart_.end())
    apart_.erase(at);
  return words == before ? std::nullopt : std::optional(words);
}

std::string PeerClocks::words() const {
  const auto most = std::ranges::max_element(apart_, {}, [](const auto& one) { return std::abs(one.second); });
  return most == apart_.end() ? "" : wordsOf(most->first, most->second);
}

std::string PeerClocks::ahead() const {
  const auto most = std::ranges::max_element(apart_, {}, [](const auto& one) { return one.second; });
  return most == apart_.end() || most->second < 0 ? "" : wordsOf(most->first, most->second);
}

}  // namespace witan::node
