#include "sim/shrink.h"

#include <algorithm>
#include <set>

#include "base/sha256.h"

namespace witan::sim {

namespace {

// ---- simpler values

// Makes a plan the best one if it still fails, and says whether it did.
using KeepIfFails = std::function<bool(const Plan&)>;

// Sets what `at` finds in a copy to `to`, or about as near to it as still fails: half-ways, from afar.
template <class T, class At>
void towards(const Plan& best, const KeepIfFails& keep, T to, const At& at) {
  const auto tryValue = [&](T value) {
    Plan plan = best;
    at(plan) = value;
    // A device has one copy of a ledger.
    ClusterOptions& cluster = plan.options.cluster;
    cluster.ledgerReplicas = std::min(cluster.ledgerReplicas, cluster.devices);
    cluster.hosts = std::min(cluster.hosts, cluster.devices);
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

std::int64_t& optionAt(Plan& plan, const OptionRange& range) {
  std::int64_t* found = nullptr;
  forEachOption(plan.options, [&](std::string_view table, std::string_view member, auto& value) {
    if constexpr (std::is_same_v<decltype(value), std::int64_t&>)
      if (table == range.table && member == range.member) found = &value;
  });
  WITAN_CHECK(found != nullptr, "the table of ranges names options");
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
  const std::vector<std::string> names = domainsOf(best.options);
  if (names.size() == 1) return;
  for (const std::string& name : names) {
    Plan plan = best;
    plan.options.cluster.domains = name;
    if (keep(plan)) return;
  }
}

template <class T>
void plainer(const Plan& best, const KeepIfFails& keep, T to, const std::function<T&(Plan&)>& at) {
  Plan plan = best;
  if (std::exchange(at(plan), to) != to) keep(plan);
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

// A smaller cluster, a calmer network, exact clocks, a shorter time. `best` is what `keep` last kept.
void simplifyOptions(const Plan& best, const KeepIfFails& keep) {
  shorterTime(best, keep);
  fewerDomains(best, keep);
  plainer<StoreKind>(best, keep, StoreKind::memory, [](Plan& p) -> StoreKind& { return p.options.cluster.store; });
  plainer<Engine>(best, keep, Engine::embedded, [](Plan& p) -> Engine& { return p.options.cluster.engine; });
  plainer<bool>(best, keep, false, [](Plan& p) -> bool& { return p.options.disk.tear; });
  for (const OptionRange& range : optionRanges())
    if (range.calm)
      towards<std::int64_t>(best, keep, *range.calm,
                            [&](Plan& plan) -> std::int64_t& { return optionAt(plan, range); });
}

// Shorter faults, smaller choices, rounder times.
void simplifyEvents(const Plan& best, const KeepIfFails& keep) {
  for (std::size_t i = 0; i < best.events.size(); ++i) {
    towards<Micros>(best, keep, 0, [i](Plan& plan) -> Micros& { return plan.events[i].lasts; });
    plainer<std::uint64_t>(best, keep, 0, [i](Plan& plan) -> std::uint64_t& { return plan.events[i].seed; });
    towards<std::uint64_t>(best, keep, 0, [i](Plan& plan) -> std::uint64_t& { return plan.events[i].n; });
    towards<std::uint64_t>(best, keep, 0, [i](Plan& plan) -> std::uint64_t& { return plan.events[i].m; });
    rounder(best, keep, i);
  }
}

// ---- fewer events

using Events = std::vector<Event>;

class Shrinker {
 public:
  Shrinker(const PlanRunner& run, const ShrinkLimits& limits) : run_(run), limits_(limits) {}

  Result<Shrunk> shrink(const Plan& plan) {
    best_.plan = plan;
    ++best_.runs;
    const RunResult first = run_(plan);
    if (!first.failure)
      return invalid("this plan does not fail",
                     "a failure that comes and goes is not deterministic: run it with --twice");
    best_.failure = best_.first = *first.failure;
    cutTail();
    dropKinds();
    ddmin();
    do {
      changed_ = false;
      simplify();
      onlyNeeded();
    } while (changed_ && !ended_);
    best_.minimal = !ended_;
    return best_;
  }

 private:
  // Takes `plan` over if it still fails in the same way.
  bool keepIfFails(const Plan& plan, std::string_view doing) {
    if (ended_) return false;
    // What once passed passes again: the last round of single events mostly repeats an earlier one.
    const Hash id = sha256(writePlan(plan));
    if (passed_.contains(id) || !checkOptions(plan.options).ok()) return false;
    if (best_.runs >= limits_.runs || (limits_.goOn && !limits_.goOn({doing, best_.runs, best_.plan.events.size()}))) {
      ended_ = true;
      return false;
    }
    ++best_.runs;
    const RunResult result = run_(plan);
    const bool same = result.failure && result.failure->checker == best_.failure.checker;
    if (!same || (limits_.sound && limits_.sound(plan).failure)) {
      passed_.insert(id);
      return false;
    }
    best_.plan = plan;
    best_.failure = *result.failure;
    changed_ = true;
    return true;
  }

  bool keepEvents(Events events, std::string_view doing) {
    Plan plan = best_.plan;
    plan.events = std::move(events);
    return keepIfFails(plan, doing);
  }

  // What comes after the failure is seldom needed.
  void cutTail() {
    Events events = best_.plan.events;
    std::erase_if(events, [&](const Event& e) { return e.at > best_.failure.at; });
    if (events.size() < best_.plan.events.size())
      keepEvents(std::move(events), "leaving out what comes after the failure");
  }

  void dropKinds() {
    for (std::size_t i = enumNames<EventKind>().size(); i-- > 0;) {
      Events events = best_.plan.events;
      if (std::erase_if(events, [&](const Event& e) { return e.kind == static_cast<EventKind>(i); }) > 0)
        keepEvents(std::move(events), "leaving out whole kinds of events");
    }
  }

  void ddmin() {
    for (std::size_t parts = 2; best_.plan.events.size() >= 2 && !ended_;) {
      const Events before = best_.plan.events;
      const std::size_t size = before.size();
      if (keepOnePart(before, parts)) {
        parts = 2;
      } else if (dropOnePart(before, parts)) {
        parts = std::max<std::size_t>(parts - 1, 2);
      } else if (parts < size) {
        parts = std::min(parts * 2, size);
      } else {
        break;
      }
    }
    if (best_.plan.events.size() == 1) keepEvents({}, "searching the events that matter");
  }

  static std::pair<std::ptrdiff_t, std::ptrdiff_t> part(std::size_t i, std::size_t parts, std::size_t size) {
    return {static_cast<std::ptrdiff_t>(i * size / parts), static_cast<std::ptrdiff_t>((i + 1) * size / parts)};
  }
  bool keepOnePart(const Events& all, std::size_t parts) {
    for (std::size_t i = 0; i < parts && !ended_; ++i) {
      const auto [from, to] = part(i, parts, all.size());
      if (keepEvents(Events(all.begin() + from, all.begin() + to), "searching the events that matter")) return true;
    }
    return false;
  }
  bool dropOnePart(const Events& all, std::size_t parts) {
    if (parts == 2) return false;  // the other half alone was tried
    for (std::size_t i = parts; i-- > 0 && !ended_;) {
      const auto [from, to] = part(i, parts, all.size());
      Events rest(all.begin(), all.begin() + from);
      rest.insert(rest.end(), all.begin() + to, all.end());
      if (keepEvents(std::move(rest), "leaving out events")) return true;
    }
    return false;
  }

  // From the end, because later events seldom carry earlier ones; again until every single one is needed.
  void onlyNeeded() {
    for (bool dropped = true; dropped && !ended_;) {
      dropped = false;
      for (std::size_t i = best_.plan.events.size(); i-- > 0 && !ended_;) {
        Events rest = best_.plan.events;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        dropped = keepEvents(std::move(rest), "leaving out single events") || dropped;
      }
    }
  }

  void simplify() {
    const auto keep = [this](const Plan& plan) { return keepIfFails(plan, "simplifying values"); };
    simplifyOptions(best_.plan, keep);
    simplifyEvents(best_.plan, keep);
  }

  const PlanRunner& run_;
  const ShrinkLimits& limits_;
  Shrunk best_;
  std::set<Hash> passed_;
  bool changed_ = false;
  bool ended_ = false;
};

}  // namespace

Result<Shrunk> shrink(const Plan& plan, const PlanRunner& run, const ShrinkLimits& limits) {
  return Shrinker(run, limits).shrink(plan);
}

}  // namespace witan::sim
