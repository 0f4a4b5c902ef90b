#include "sim/shrink.h"

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "sim/shrink_values.h"

namespace witan::sim {

namespace {

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
    if (passed_.contains(id)) return false;
    if (best_.runs >= limits_.runs || (limits_.goOn && !limits_.goOn({doing, best_.runs, best_.plan.events.size()}))) {
      ended_ = true;
      return false;
    }
    ++best_.runs;
    const RunResult result = run_(plan);
    if (!result.failure || result.failure->checker != best_.failure.checker) {
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
