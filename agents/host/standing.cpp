#include "agents/host/standing.h"

#include <algorithm>
#include <array>
#include <utility>

namespace witan::agents {

namespace {

constexpr std::int64_t kDayMicros = 86'400'000'000;

constexpr std::array kParts{std::pair("calls", &Usage::calls), std::pair("tokens", &Usage::tokens),
                            std::pair("seconds", &Usage::seconds)};

Usage spentOn(const Knowledge& known, const std::string& day, std::string_view provider) {
  Usage sum;
  const auto at = known.spent.find(day);
  if (at == known.spent.end()) return sum;
  for (const auto& [device, usages] : at->second)
    for (const auto& [name, usage] : usages)
      if (provider.empty() || name == provider)
        for (const auto& [what, part] : kParts) sum.*part += usage.*part;
  return sum;
}

}  // namespace

std::string standingDay(Time now) { return formatDate(dateOf(now)); }

std::int64_t msToNextDay(Time now) {
  const std::int64_t into = (now.micros % kDayMicros + kDayMicros) % kDayMicros;
  return (kDayMicros - into) / 1'000 + 1;
}

Usages standingLeft(const std::vector<StandingLimit>& limits, std::string_view agent, const Knowledge& known,
                    const std::string& day) {
  Usages left;
  for (const StandingLimit& limit : limits) {
    if (!limit.agent.empty() && limit.agent != agent) continue;
    const Usage most{limit.calls, limit.tokens, limit.seconds}, spent = spentOn(known, day, limit.provider);
    Usage& mine = left.try_emplace(limit.provider, Usage{-1, -1, -1}).first->second;
    for (const auto& [what, part] : kParts) {
      if (most.*part < 0) continue;
      const std::int64_t rest = std::max<std::int64_t>(most.*part - spent.*part, 0);
      mine.*part = mine.*part < 0 ? rest : std::min(mine.*part, rest);
    }
  }
  return left;
}

std::string exhaustedIn(const Usages& left) {
  for (const auto& [provider, usage] : left)
    for (const auto& [what, part] : kParts)
      if (usage.*part == 0) return concat(what, provider.empty() ? "" : " of ", provider);
  return {};
}

Status narrowToStanding(Budget& budget, const json::object& input) {
  const json::value* given = input.if_contains("standing");
  if (given == nullptr) return okStatus();
  Usages left;
  WITAN_DO(readJson(*given, left, "standing"));
  const auto all = left.find("");
  if (all == left.end()) return okStatus();
  if (all->second.tokens >= 0) budget.tokens = std::min(budget.tokens, all->second.tokens);
  if (all->second.seconds >= 0) budget.seconds = std::min(budget.seconds, all->second.seconds);
  return okStatus();
}

void spend(Knowledge& known, const std::string& day, const std::string& device, const Usages& more) {
  Usages& mine = known.spent[day][device];
  for (const auto& [provider, usage] : more)
    for (const auto& [what, part] : kParts) mine[provider].*part += usage.*part;
}

}  // namespace witan::agents
