#include "sim/check/link_rules.h"

#include <algorithm>

#include "base/concat.h"

namespace witan::sim {

void LateUpdates::has(std::uint32_t device, const std::string& space, const std::string& writer, std::uint64_t commits,
                      std::int64_t now) {
  std::uint64_t& before = has_[device][space][writer];
  if (commits <= before) return;
  before = commits;
  young_.push_back({device, space, writer, commits, now});
}

void LateUpdates::stopped(std::uint32_t device) {
  seen_.endAll(device);
  has_.erase(device);
  std::erase_if(young_, [&](const Update& update) { return update.device == device; });
}

std::string LateUpdates::late(std::int64_t now) {
  while (!young_.empty() && young_.front().at + kSoon <= now) {
    const Update update = std::move(young_.front());
    young_.pop_front();
    if (std::string wrong = lateOf(update); !wrong.empty()) return wrong;
  }
  return {};
}

std::string LateUpdates::lateOf(const Update& update) {
  for (auto at = seen_.all().lower_bound({update.device, 0});
       at != seen_.all().end() && at->first.first == update.device; ++at) {
    const std::uint32_t other = at->first.second;
    const auto spaces = has_.find(other);
    if (at->second > update.at - kWarm || spaces == has_.end()) continue;
    const auto space = spaces->second.find(update.space);
    if (space == spaces->second.end()) continue;
    ++judged_;
    const auto commits = space->second.find(update.writer);
    const std::uint64_t has = commits == space->second.end() ? 0 : commits->second;
    if (has < update.commits)
      return concat("device ", other, " has ", has, " of the ", update.commits, " commits of ", update.writer, " in ",
                    update.space, " that device ", update.device, ", with which it has been linked all the time, had ",
                    kSoon / 1'000, " ms ago");
  }
  return {};
}

void FewLinks::links(std::uint32_t device, const std::set<std::uint32_t>& others, std::int64_t now) {
  const auto [at, fresh] = lives_.try_emplace(device);
  if (fresh || !std::ranges::includes(others, at->second.links)) at->second.since = now;
  at->second.links = others;
}

std::string FewLinks::tooFew(std::uint32_t device, std::int64_t now) const {
  const auto life = lives_.find(device);
  if (life == lives_.end() || now - life->second.since < kSettled || life->second.links.size() >= kLeast) return {};
  std::size_t others = 0;
  for (auto at = reached_.all().lower_bound({device, 0}); at != reached_.all().end() && at->first.first == device; ++at)
    others += now - at->second >= kSettled ? 1 : 0;
  if (others < kOthers) return {};
  return concat("device ", device, " has had ", life->second.links.size(), " links for ",
                (now - life->second.since) / 1'000'000, " s, although it could reach ", others, " others");
}

std::string SameLinks::same(std::int64_t now) const {
  if (now < 2 * kSpan || first_.size() > kMostKnown) return {};
  const auto young = [&](const auto& one) { return one.second > now - kSpan; };
  if (std::ranges::any_of(first_, young)) return {};
  return concat("in ", kSpan / 60'000'000, " minutes no two devices were linked that had not been linked before");
}

}  // namespace witan::sim
