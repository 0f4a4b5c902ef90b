#include "agents/host/standing.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "agents/episode/tool.h"
#include "base/mutant.h"

namespace witan::agents {

namespace {

constexpr std::int64_t kDayMicros = 86'400'000'000, kHourMicros = kDayMicros / 24;
constexpr std::size_t kDayLetters = 10;  // of "2026-03-23T14"

std::int64_t msToNext(std::int64_t period, Time now) {
  const std::int64_t into = (now.micros % period + period) % period;
  return (period - into) / 1'000 + 1;
}

bool hasRate(const Capability& one) { return one.perHour || one.perDay; }

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

std::int64_t msToNextDay(Time now) { return msToNext(kDayMicros, now); }

std::string standingHour(Time now) {
  const std::int64_t hour = ((now.micros % kDayMicros + kDayMicros) % kDayMicros) / kHourMicros;
  return concat(standingDay(now), hour < 10 ? "T0" : "T", hour);
}

std::int64_t msToNextHour(Time now) { return msToNext(kHourMicros, now); }

std::map<std::string, std::int64_t> ratesLeft(std::span<const Capability> capabilities, const Knowledge& known,
                                              const std::string& hour) {
  std::map<std::string, std::int64_t> left;
  if (mutated("anyRate")) return left;
  const std::string_view day = std::string_view(hour).substr(0, kDayLetters);
  for (const Capability& one : capabilities) {
    if (!hasRate(one)) continue;
    std::int64_t thisHour = 0, thisDay = 0;
    for (const auto& [when, devices] : known.used.value_or(Knowledge::Uses()))
      for (const auto& [device, uses] : devices)
        if (const auto at = uses.find(one.resource); at != uses.end()) {
          if (when == hour) thisHour += at->second;
          if (when.starts_with(day)) thisDay += at->second;
        }
    std::int64_t rest = std::numeric_limits<std::int64_t>::max();
    if (one.perHour) rest = std::min(rest, *one.perHour - thisHour);
    if (one.perDay) rest = std::min(rest, *one.perDay - thisDay);
    const auto at = left.try_emplace(one.resource, rest).first;
    at->second = std::max<std::int64_t>(0, std::min(at->second, rest));
  }
  return left;
}

void narrowToRates(std::vector<Capability>& granted, const std::map<std::string, std::int64_t>& left) {
  for (const auto& [resource, rest] : left) {
    std::int64_t some = rest;  // of several that it covers, the first get it
    for (Capability& one : granted)
      if (episode::coversResource(resource, one.resource))
        some -= one.uses = std::min(one.uses, mutated("rateEach") ? rest : some);
  }
}

void countUses(Knowledge& known, const std::string& hour, const std::string& device,
               std::span<const Capability> declared, const std::string& granted, std::int64_t count) {
  std::set<std::string_view> counted;
  for (const Capability& one : declared) {
    if (count <= 0 || !hasRate(one) || !episode::coversResource(one.resource, granted)) continue;
    if (!counted.insert(one.resource).second) continue;
    if (!known.used) known.used.emplace();
    (*known.used)[hour][device][one.resource] += mutated("countOnce") ? 1 : count;
  }
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
