#include "domains/udt/udt.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "domains/extension.h"
#include "domains/vocabulary.h"
#include "kernel/typed_module.h"

namespace witan::domains::udt {

const Extension& Udt::extension() {
  static const Extension extension = [] {
    Extension made{.agents = workers::clinicAgents(), .feed = {"a clinic", clinicFeed}};
    std::ranges::copy(workers::relapseAgents(), std::back_inserter(made.agents));
    return made;
  }();
  return extension;
}

void Udt::complete(State& s, const Policy& policy, FieldMask given, Time at) {
  const auto has = [&]<class F>(TypeBox<F>) { return (given & maskOf<Fields, Footprint<F>>) != 0; };
  if (!has(TypeBox<BaselinePositiveOn>{})) s.baselinePositiveOn = dateOf(at);
  if (!has(TypeBox<LastPositiveOn>{})) {
    s.lastPositiveOn = s.baselinePositiveOn;
    for (Slot slot : s.orders.byKey())
      if (const OrderRow& row = s.orders.row(slot); row.outcome == Outcome::POSITIVE && row.resultOn)
        s.lastPositiveOn = std::max(s.lastPositiveOn, *row.resultOn);
  }
  if (!has(TypeBox<AbstinenceAsOf>{})) s.abstinenceAsOf = dateOf(at);
  if (!has(TypeBox<ConsecutiveDays>{})) s.consecutiveDays = daysBetween(s.lastPositiveOn, s.abstinenceAsOf);
  if (!has(TypeBox<TierOf>{})) s.tier = policy.tierOf(s.consecutiveDays);
}

// ---- workload of property tests, lint and simulator: plausible proposals, lawful and unlawful ----

namespace {

std::string orderName(Random& random) { return "O" + std::to_string(1 + random.below(12)); }

// An order of the state, mostly; sometimes one that may not exist.
std::string knownOrder(const State& s, Random& random) {
  if (s.orders.size() == 0 || random.below(10) == 0) return orderName(random);
  return s.orders.key(static_cast<Slot>(random.below(s.orders.size())));
}

Date near(Random& random, Time at, std::uint64_t back, std::uint64_t ahead) {
  return Date{static_cast<std::int32_t>(dateOf(at).days - static_cast<std::int32_t>(back) +
                                        static_cast<std::int32_t>(random.below(back + ahead + 1)))};
}

OrderTest sampleOrder(const State& s, Random& random, Time at) {
  OrderTest order;
  order.order = knownOrder(s, random);
  const bool definitive = random.below(2) == 0;
  order.kind = definitive ? "DEFINITIVE" : "PRESUMPTIVE";
  order.code = random.below(20) == 0 ? "80307"
               : definitive          ? "G0480"
                                     : pick<const char*, 3>(random, {"80305", "80306", "80307"});
  order.method = random.below(20) == 0 ? "ENZYMATIC" : definitive ? "LCMS" : "IMMUNOASSAY";
  if (random.below(40) == 0) order.method = "immunoassay";
  order.dos = random.below(4) == 0 ? near(random, at, 10, 3) : dateOf(at);
  if (random.below(3) == 0) order.confirms = knownOrder(s, random);
  if (random.below(5) == 0) order.coverage = "NONE";
  return order;
}

// Between the date of service and the day, mostly.
RecordResult sampleResult(const State& s, Random& random, Time at) {
  RecordResult result{knownOrder(s, random), random.below(3) == 0 ? "POSITIVE" : "NEGATIVE", near(random, at, 3, 0)};
  if (random.below(20) == 0) result.on = near(random, at, 0, 3);
  const Slot slot = s.orders.find(result.order);
  if (slot == kNoSlot || !s.orders.row(slot).dos || random.below(20) == 0) return result;
  result.on = std::min(std::max(result.on, *s.orders.row(slot).dos), std::max(dateOf(at), *s.orders.row(slot).dos));
  return result;
}

SubmitClaim sampleClaim(const State& s, Random& random) {
  SubmitClaim claim;
  claim.claim = "C" + std::to_string(1 + random.below(8));
  claim.order = knownOrder(s, random);
  claim.code = "G0480";
  claim.dos = s.abstinenceAsOf;
  if (const Slot slot = s.orders.find(claim.order); slot != kNoSlot && random.below(10) != 0) {
    const OrderRow& row = s.orders.row(slot);
    claim.code = row.code.value_or(claim.code);
    claim.dos = row.dos.value_or(claim.dos);
  }
  if (random.below(20) == 0) claim.units = 2;
  return claim;
}

}  // namespace

Udt::AnyAction Udt::sample(const State& s, Random& random, Time at) {
  const std::uint64_t draw = random.below(100);
  if (draw < 30) {
    constexpr std::array<const char*, 6> kinds{"INDIVIDUAL", "INDIVIDUAL",       "INDIVIDUAL",
                                               "STANDING",   "IA_NOT_AVAILABLE", "UNEXPECTED_RESULT"};
    return DocumentRationale{random.below(2) == 0 ? orderName(random) : knownOrder(s, random),
                             random.below(15) == 0 ? "short" : "individual plan: random monitoring",
                             pick(random, kinds)};
  }
  if (draw < 60) return sampleOrder(s, random, at);
  if (draw < 80) return sampleResult(s, random, at);
  if (draw < 86) {
    AdvanceAbstinence advance;
    if (random.below(3) == 0) advance.tier = "D90P";
    if (random.below(6) == 0) advance.days = static_cast<std::int64_t>(random.below(120));
    return advance;
  }
  if (draw < 97) return sampleClaim(s, random);
  return VoidClaim{"C" + std::to_string(1 + random.below(8))};
}

std::string Udt::sampleEdit(const State&, const AnyAction& pending, std::string_view counselor, Random& random,
                            Time at) {
  if (const auto* result = std::get_if<RecordResult>(&pending)) {
    const RelapseResponse response{
        std::string(counselor), at,
        pick<const char*, 3>(random, {"increase monitoring", "counselling", "adjust the plan"})};
    std::string edit = "{\"relapse.response\":{";
    appendJsonString(edit, result->order);
    return edit + ":" + toJson(response) + "}}";
  }
  if (const auto* order = std::get_if<OrderTest>(&pending)) {
    std::string edit = "{\"waivers\":{\"add\":[[\"" + std::string(SameDayDefinitive::id) + "\",";
    appendJsonString(edit, order->order);
    return edit + "]]}}";
  }
  return "{}";
}

std::string Udt::sampleInit(Random& random, Time at) {
  const Date baseline = near(random, at, 130, 0);
  return "{\"baselinePositiveOn\":\"" + formatDate(baseline) + "\"}";
}

}  // namespace witan::domains::udt

WITAN_DEFINE_DOMAIN(udt, udt::Udt)
