// The two things that the decision logic is written over: numbers and truth values, and what can be done with them.
//
// The functions of this folder are templates over a logic L. `RunTime`, here, computes; `Symbolic`
// (lab/proof/symbolic.h) builds the formula of the very same source for Z3. So what is proven is what runs. Rules
// for such functions: no `if` on an L::Bool (use L::ite), no arithmetic but L::plus, L::minus and L::divided, no short
// circuit that matters.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "agents/decision/natural.h"

namespace witan::agents::decision {

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
