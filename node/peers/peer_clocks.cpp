#include "node/peers/peer_clocks.h"

#include <algorithm>
#include <cstdlib>

#include "base/concat.h"

namespace witan::node {

namespace {

constexpr std::int64_t kSecond = 1'000'000, kHour = 3600 * kSecond, kDay = 24 * kHour;

// Coarse: the words are an incident's, and stay as long as the clocks do. Empty: both agree.
std::string wordsOf(std::string_view device, std::int64_t apart) {
  const std::int64_t size = std::abs(apart);
  if (size <= kHour) return "";
  const bool days = size >= 2 * kDay;
  const std::int64_t count = days ? size / kDay : size / kHour;
  return concat("the clock of this device is about ", count, days ? " day" : " hour", count == 1 ? "" : "s",
                apart > 0 ? " ahead of" : " behind", " that of ", device);
}

}  // namespace

std::optional<std::string> PeerClocks::heard(std::string_view device, Time sent, Time now) {
  if (sent.micros == 0) return std::nullopt;  // an older program does not say it
  const auto [at, first] = apart_.try_emplace(std::string(device), 0);
  const std::string before = wordsOf(device, at->second);
  at->second = now.micros - sent.micros;
  const std::string words = wordsOf(device, at->second);
  return !first && words == before ? std::nullopt : std::optional(words);
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
