// A natural number (ACL2's natp) that never wraps: sums stop at kMax, differences at 0.
//
// The number type of the decision logic at run time (agents/decision/logic.h). It has no `-`, `+` or `*` on purpose:
// every sum and difference of that logic is named, so that the proofs see the same arithmetic. A value; constexpr;
// O(1).
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>

#include "base/json_codec.h"

namespace witan::agents::decision {

class Natural {
 public:
  static constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();  // so that every JSON integer fits

  constexpr Natural() = default;
  template <std::unsigned_integral T>
  constexpr Natural(T value) : value_(value < kMax ? value : kMax) {}  // NOLINT: implicit, above kMax it saturates
  consteval Natural(int literal) : value_(checked(literal)) {}  // NOLINT: implicit; a negative one does not compile

  constexpr std::uint64_t value() const { return value_; }

  friend constexpr Natural saturatingPlus(Natural a, Natural b) { return Natural(a.value_ + b.value_); }
  friend constexpr Natural saturatingMinus(Natural a, Natural b) {
    return Natural(a.value_ > b.value_ ? a.value_ - b.value_ : std::uint64_t{0});
  }
  // Rounds down. Requires: divisor > 0.
  friend constexpr Natural dividedBy(Natural a, std::uint64_t divisor) { return Natural(a.value_ / divisor); }

  friend constexpr auto operator<=>(Natural, Natural) = default;
  friend constexpr bool operator==(Natural, Natural) = default;
  friend std::ostream& operator<<(std::ostream& out, Natural n) { return out << n.value_; }

 private:
  static consteval std::uint64_t checked(int literal) {
    if (literal < 0) throw "a natural number is not negative";
    return static_cast<std::uint64_t>(literal);
  }

  std::uint64_t value_ = 0;
};

}  // namespace witan::agents::decision

template <>
struct witan::JsonCodec<witan::agents::decision::Natural> {
  static Status read(const json::value& v, agents::decision::Natural& out, std::string_view where) {
    std::uint64_t value = 0;
    WITAN_DO(readJson(v, value, where));
    out = agents::decision::Natural(value);
    return okStatus();
  }
  static void write(std::string& out, agents::decision::Natural v) { appendInteger(out, v.value()); }
  static std::string typeName() { return "natural number"; }
};
