#include "sim/guide.h"

#include <algorithm>

#include "sim/catalog.h"
#include "sim/draw.h"
#include "sim/plan_budget.h"

namespace witan::sim {

namespace {

constexpr std::size_t kPlansOfAProbe = 4;
constexpr std::size_t kRarest = 16;
constexpr std::uint64_t kRareOneIn = 50;  // runs
constexpr Micros kNear = 200'000;

Micros endOf(const Plan& plan) { return plan.options.time.seconds * 1'000'000; }

// A part of the run, a twentieth to a quarter of it.
struct Part {
  Micros from = 0, lasts = 0;
  bool has(const Event& event) const { return event.at >= from && event.at < from + lasts; }
};
Part partOf(const Plan& plan, Random& random) {
  const Micros lasts = endOf(plan) / 20 * between(random, 1, 5);
  return {between(random, 0, endOf(plan) - lasts), lasts};
}

EventKind kindOf(const Plan& plan, Random& random) { return plan.events[random.below(plan.events.size())].kind; }

void repeatPart(Plan& plan, Random& random) {
  const Part part = partOf(plan, random);
  const Micros later = between(random, 1, endOf(plan) / 4);
  std::vector<Event> again;
  for (const Event& event : plan.events)
    if (part.has(event) && event.at + later < endOf(plan)) {
      again.push_back(event);
      again.back().at += later;
    }
  plan.events.insert(plan.events.end(), again.begin(), again.end());
}

void leaveOut(Plan& plan, Random& random) {
  const Part part = partOf(plan, random);
  const EventKind kind = kindOf(plan, random);
  const bool ofAKind = random.below(2) == 0;
  std::erase_if(plan.events, [&](const Event& e) { return ofAKind ? e.kind == kind : part.has(e); });
}

// Only of kinds that the options know of: checkers ask them what may happen.
void takeOver(Plan& plan, const Plan& other, Random& random) {
  if (other.events.empty()) return;
  const EventKind kind = kindOf(other, random);
  if (eventInfo(kind).rate.in(plan.options) <= 0) return;
  const auto devices = static_cast<std::uint32_t>(plan.options.cluster.devices);
  for (Event event : other.events) {
    if (event.kind != kind || event.at >= endOf(plan)) continue;
    event.device %= devices;
    event.other %= devices;
    if (event.kind != EventKind::split) plan.events.push_back(event);
  }
}

// Faults strike where they hurt: close to something of a kind.
void gather(Plan& plan, Random& random) {
  const EventKind kind = kindOf(plan, random), around = kindOf(plan, random);
  std::vector<Event> there;
  std::ranges::copy_if(plan.events, std::back_inserter(there), [&](const Event& e) { return e.kind == around; });
  for (Event& event : plan.events) {
    if (event.kind != kind || !isFault(kind)) continue;
    const Event& place = there[random.below(there.size())];
    event.at = std::clamp<Micros>(place.at + between(random, -kNear, kNear), 0, endOf(plan) - 1);
    if (random.below(2) == 0) event.device = place.device;
  }
}

}  // namespace

Plan changedPlan(const Plan& plan, const Plan& other, std::uint64_t seed) {
  SeededRandom random(seed);
  Plan out = plan;
  for (std::uint64_t steps = 1 + random.below(3); steps > 0 && !out.events.empty(); --steps) switch (random.below(5)) {
      case 0: out.options.seed = random.below(std::uint64_t{1} << 53); break;
      case 1: repeatPart(out, random); break;
      case 2: leaveOut(out, random); break;
      case 3: takeOver(out, other, random); break;
      default: gather(out, random); break;
    }
  for (Event& event : out.events) {
    event.lasts = std::min(event.lasts, endOf(out) - event.at);
    if (event.other == event.device)
      event.other = (event.device + 1) % static_cast<std::uint32_t>(out.options.cluster.devices);
  }
  if (out.events.size() > kMaxEvents) out.events.resize(kMaxEvents);
  out.events = withinBudget(out.options.cluster, std::move(out.events), {});
  return out;
}

bool Guide::guides(std::uint64_t seed) const {
  return streamSeed(seed, "guided") % 100 < percent_ && !rareOnes().empty();
}

std::vector<const Guide::Reached*> Guide::rareOnes() const {
  std::vector<const Reached*> rare;
  for (const auto& [probe, one] : reached_)
    if (!one.plans.empty() && one.runs * kRareOneIn <= runs_ + kRareOneIn) rare.push_back(&one);
  std::ranges::stable_sort(rare, {}, &Reached::runs);
  rare.resize(std::min(rare.size(), kRarest));
  return rare;
}

Result<Plan> Guide::planOf(std::uint64_t seed) const {
  if (!guides(seed)) return drawPlan(scenario_, seed);
  const auto rare = rareOnes();
  SeededRandom random(streamSeed(seed, "which is changed"));
  const Reached& probe = *rare[random.below(rare.size())];
  WITAN_TRY(other, drawPlan(scenario_, seed));
  return changedPlan(*probe.plans[random.below(probe.plans.size())], other, streamSeed(seed, "how it is changed"));
}

void Guide::learn(const Plan& plan, const RunResult& result) {
  ++runs_;
  std::shared_ptr<const Plan> kept;
  for (const auto& [probe, hits] : result.probes) {
    if (hits == 0) continue;
    Reached& one = reached_[probe];
    if (++one.runs * kRareOneIn > runs_ + kRareOneIn) {
      one.plans.clear();
      continue;
    }
    if (!kept) kept = std::make_shared<const Plan>(plan);
    if (one.plans.size() == kPlansOfAProbe) one.plans.erase(one.plans.begin());
    one.plans.push_back(kept);
  }
}

}  // namespace witan::sim
