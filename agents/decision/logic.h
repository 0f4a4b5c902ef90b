// The two things that the decision logic is written over: numbers and truth values, and what can be done with them.
//
// The functions of this folder are templates over a logic L. `RunTime`, here, computes; `Symbolic`
// (lab/proof/symbolic.h) builds the formula of the very same source for Z3. So what is proven is what runs. Rules
// for such functions: no `if` on an L::Bool (use L::ite), no arithmetic but L::plus, L::minus and L::divided, no short
// circuit that matters.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/json_codec.h"

namespace witan::agents::decision {

// A natural number (ACL2's natp) that never wraps: sums stop at kMax, differences at 0. It has no `-`, `+` or `*` on
// purpose: every sum and difference of the logic is named, so that the proofs see the same arithmetic.
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

struct RunTime {
  using Num = Natural;
  using Bool = bool;
  template <class E>
  using Enum = E;
  using Text = std::string;
  template <class T>
  using List = std::vector<T>;

  static constexpr Num plus(Num a, Num b) { return saturatingPlus(a, b); }
  static constexpr Num minus(Num a, Num b) { return saturatingMinus(a, b); }
  static constexpr Num divided(Num a, unsigned divisor) { return dividedBy(a, divisor); }

  // Numbers, truth values, words and plain structs of them.
  template <class T>
  static constexpr T ite(bool condition, const T& then, const T& otherwise) {
    return condition ? then : otherwise;
  }
  template <class E>
  static constexpr bool is(E value, E word) {
    return value == word;
  }
  // A constant of the logic and type that `sample` has.
  static constexpr Num like(Num, unsigned value) { return Natural(value); }
  static constexpr bool like(bool, bool value) { return value; }
  template <class E>
  requires std::is_enum_v<E>
  static constexpr E like(E, E value) { return value; }

  static Num bytes(const Text& text) { return Natural(text.size()); }
  template <class T>
  static Num length(const List<T>& list) {
    return Natural(list.size());
  }
  // The only change of a list that the logic knows. Amortised O(1).
  template <class T>
  static void appendIf(bool condition, List<T>& list, const T& value) {
    if (condition) list.push_back(value);
  }
};

template <class L>
typename L::Num smaller(const typename L::Num& a, const typename L::Num& b) {
  return L::ite(a <= b, a, b);
}
template <class L>
typename L::Num larger(const typename L::Num& a, const typename L::Num& b) {
  return L::ite(a >= b, a, b);
}

}  // namespace witan::agents::decision

template <>
struct witan::JsonCodec<witan::agents::decision::Natural> {
  static Status read(const json::value& v, agents::decision::Natural& out, std::string_view where) {
    std::uint64_t value = 0;
    WITAN_DO(readJson(v, value, where));
    out = agents::decision::Natural(value);
    return okStatus();
  }
  static void write(std::string& out, agents::decision::Natural v) { appendUnsigned(out, v.value()); }
  static std::string typeName() { return "natural number"; }
};
