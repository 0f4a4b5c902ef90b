#include "sim/shrink_values.h"

#include <algorithm>
#include <sstream>

#include "sim/options_fields.h"

namespace witan::sim {

namespace {

// What a value is moved to, as far as the failure allows. Rates and mean lengths are left alone: the events are drawn.
struct Calm {
  std::string_view table, member;
  std::int64_t value;
};
constexpr Calm kCalm[] = {
    {"cluster", "devices", 1},
    {"cluster", "ledgerReplicas", 1},
    {"cluster", "agents", 1},
    {"cluster", "entities", 1},
    {"cluster", "partitions", 1},
    {"cluster", "scopes", 0},
    {"time", "skewMs", 0},
    {"time", "driftPpm", 0},
    {"network", "delayMinMicros", 0},
    {"network", "delayMeanMicros", 0},
    {"network", "bytesPerSecond", 0},
    {"network", "lossPerMillion", 0},
    {"network", "duplicatePerMillion", 0},
    {"network", "reorderPerMillion", 0},
    {"network", "resetPerMillion", 0},
    {"disk", "syncMicros", 0},
};

// Sets what `at` finds in a copy to `to`, or about as near to it as still fails: half-ways, from afar.
template <class T, class At>
void towards(const Plan& best, const KeepIfFails& keep, T to, const At& at) {
  const auto tryValue = [&](T value) {
    Plan plan = best;
    at(plan) = value;
    return keep(plan);
  };
  const auto now = [&] {
    Plan plan = best;
    return at(plan);
  };
  if (now() == to || tryValue(to)) return;
  T floor = to;
  while (now() > floor && now() - floor > std::max<T>(1, now() / 16)) {
    const T middle = floor + (now() - floor) / 2;
    if (!tryValue(middle)) floor = middle;
  }
}

std::int64_t& optionAt(Plan& plan, const Calm& calm) {
  std::int64_t* found = nullptr;
  forEachOption(plan.options, [&](std::string_view table, std::string_view member, auto& value) {
    if constexpr (std::is_same_v<decltype(value), std::int64_t&>)
      if (table == calm.table && member == calm.member) found = &value;
  });
  WITAN_CHECK(found != nullptr, "the table of calm values names options");
  return *found;
}

void shorterTime(const Plan& best, const KeepIfFails& keep) {
  Micros last = 1;
  for (const Event& e : best.events) last = std::max(last, e.at + e.lasts);
  const std::int64_t needed = last / 1'000'000 + 1;
  if (needed >= best.options.time.seconds) return;
  Plan plan = best;
  plan.options.time.seconds = needed;
  keep(plan);
}

void fewerDomains(const Plan& best, const KeepIfFails& keep) {
  std::istringstream words(best.options.cluster.domains);
  for (std::string word; words >> word;) {
    if (word == best.options.cluster.domains) return;
    Plan plan = best;
    plan.options.cluster.domains = word;
    if (keep(plan)) return;
  }
}

template <class T>
void plainer(const Plan& best, const KeepIfFails& keep, T& (*at)(Plan&), T to) {
  Plan plan = best;
  if (at(plan) == to) return;
  at(plan) = to;
  keep(plan);
}

// The coarsest time that keeps the order and the failure.
void rounder(const Plan& best, const KeepIfFails& keep, std::size_t i) {
  for (const Micros step : {60'000'000, 10'000'000, 1'000'000, 100'000, 1'000}) {
    const Micros rounded = best.events[i].at / step * step;
    if (rounded == best.events[i].at) return;
    if (i > 0 && rounded < best.events[i - 1].at) continue;
    Plan plan = best;
    plan.events[i].at = rounded;
    if (keep(plan)) return;
  }
}

}  // namespace

void simplifyOptions(const Plan& best, const KeepIfFails& keep) {
  shorterTime(best, keep);
  fewerDomains(best, keep);
  plainer<StoreKind>(
      best, keep, [](Plan& p) -> StoreKind& { return p.options.cluster.store; }, StoreKind::memory);
  plainer<Engine>(
      best, keep, [](Plan& p) -> Engine& { return p.options.cluster.engine; }, Engine::embedded);
  plainer<bool>(
      best, keep, [](Plan& p) -> bool& { return p.options.disk.tear; }, false);
  for (const Calm& calm : kCalm)
    towards<std::int64_t>(best, keep, calm.value, [&](Plan& plan) -> std::int64_t& { return optionAt(plan, calm); });
}

void simplifyEvents(const Plan& best, const KeepIfFails& keep) {
  for (std::size_t i = 0; i < best.events.size(); ++i) {
    towards<Micros>(best, keep, 0, [i](Plan& plan) -> Micros& { return plan.events[i].lasts; });
    if (best.events[i].seed != 0) {
      Plan plan = best;
      plan.events[i].seed = 0;
      keep(plan);
    }
    towards<std::uint64_t>(best, keep, 0, [i](Plan& plan) -> std::uint64_t& { return plan.events[i].n; });
    towards<std::uint64_t>(best, keep, 0, [i](Plan& plan) -> std::uint64_t& { return plan.events[i].m; });
    rounder(best, keep, i);
  }
}

}  // namespace witan::sim
