// Every option by its path ("faults.crashes"), for whoever treats them alike: scenarios, the shrinker, printed tables.
// Pure functions. `OptionsT` may be const.
#pragma once

#include <string>
#include <string_view>

#include "sim/options.h"

namespace witan::sim {

// visit(table, name, value) for every option but the scenario's name and the seed, in the order of their declaration.
template <class OptionsT, class Visit>
void forEachOption(OptionsT& options, Visit&& visit) {
  forEachMember<Options>([&](auto section, auto) {
    using Section = typename decltype(section)::Type;
    if constexpr (Reflected<Section>) {
      auto& table = options.*section.pointer;
      forEachMember<Section>([&](auto member, auto) { visit(section.name, member.name, table.*member.pointer); });
    }
  });
}

// Micros of the unit in a member's name (cutSeconds, delayMinMicros); 0 if it has none.
std::int64_t unitOf(std::string_view member);

// An expected number per hour ("crashes"), not a length.
bool isFaultRate(std::string_view table, std::string_view member);

}  // namespace witan::sim
