// Random values for properties of the decision logic, near the edges where it decides. Inside a RapidCheck property.
#pragma once

#include <rapidcheck.h>

#include "agents/decision/logic.h"
#include "base/reflect.h"

namespace witan::agents::testing {

inline decision::Natural drawNatural() {
  using decision::Natural;
  return *rc::gen::weightedOneOf<Natural>(
      {{7, rc::gen::map(rc::gen::element(0u, 1u, 2u, 3u, 99u, 100u, 101u), [](unsigned n) { return Natural(n); })},
       {2, rc::gen::map(rc::gen::element<std::uint64_t>(999, 1'000, 9'999, 10'000, Natural::kMax - 1, Natural::kMax),
                        [](std::uint64_t n) { return Natural(n); })},
       {1, rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t n) { return Natural(n); })}});
}

// Any value of a run-time type: numbers, truth values, words, plain structs of them.
template <class T>
T draw() {
  if constexpr (std::is_same_v<T, decision::Natural>) {
    return drawNatural();
  } else if constexpr (std::is_same_v<T, bool>) {
    return *rc::gen::arbitrary<bool>();
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(*rc::gen::inRange<int>(0, static_cast<int>(enumNames<T>().size())));
  } else {
    T value;
    forEachMember<T>([&](auto member, auto) { value.*member.pointer = draw<typename decltype(member)::Type>(); });
    return value;
  }
}

}  // namespace witan::agents::testing
