#include "sim/check/level_rules.h"

#include <algorithm>

#include "base/string_util.h"

namespace witan::sim {

namespace {

constexpr std::uint64_t kSome = 40;  // of something of which there is little: chance

}  // namespace

std::string wordsOf(const KeptLevel& level) {
  std::string words;
  forEachMember<KeptLevel>(
      [&](auto member, auto) { words += concat(words.empty() ? "" : ", ", level.*member.pointer, " ", member.name); });
  return words;
}

std::string LevelRules::looked(const std::string& device, std::int64_t day, const KeptLevel& level) {
  if (day < warm_) return {};
  std::string wrong;
  forEachMember<KeptLevel>([&](auto member, auto) {
    std::uint64_t& most = most_.*member.pointer;
    const std::uint64_t now = level.*member.pointer;
    if (day < warm_ + kLevelDays)
      most = std::max(most, now);
    else if (now > most + most / 2 + kSome && wrong.empty())
      wrong = concat(device, " keeps ", now, " ", member.name, " on day ", day, ", and on none of the days ", warm_,
                     " to ", warm_ + kLevelDays, " did any device keep more than ", most);
  });
  return wrong;
}

}  // namespace witan::sim
