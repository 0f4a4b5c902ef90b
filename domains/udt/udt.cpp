#include "domains/udt/udt.h"

#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::udt {

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

}  // namespace witan::domains::udt

WITAN_DEFINE_DOMAIN(udt, udt::Udt)
