// The logic of the proofs: the decision functions over it build Z3 formulas instead of computing.
//
// A natural number is a mathematical integer 0 <= n <= cap, where `cap` is a free constant of which only
// cap >= kSmallestCap is known, and sums stop at cap as they do at run time. Integers and not bit-vectors, because a
// theorem for every cap holds for the run time's 63 bits, for every other width, and for the seed's unbounded naturals
// (any counterexample there is one for a cap large enough); and because linear integer arithmetic is quick, where
// 63-bit division is not. tests/lab/semantics_test.cpp compares both logics on concrete values.
//
// For lab/proof/ and tests only. Expressions must not outlive their z3::context. One thread per context.
#pragma once

#include <z3++.h>

#include <vector>

#include "agents/decision/logic.h"
#include "base/reflect.h"

namespace witan::agents::proof {

// A list of structs: for each member an array from position to value; only positions below `length` count.
template <class T>
struct SymbolicList {
  std::vector<z3::expr> columns;
  z3::expr length;
};

struct Symbolic {
  using Num = z3::expr;
  using Bool = z3::expr;
  template <class E>
  using Enum = z3::expr;  // an integer: the position in the list of words
  using Text = z3::expr;  // an integer that stands for the text
  template <class T>
  using List = SymbolicList<T>;

  static constexpr unsigned kSmallestCap = 10'000;  // every constant of the logic is a natural number
  static Num cap(z3::context& context) { return context.int_const("cap"); }

  static Num plus(const Num& a, const Num& b) {
    const Num most = cap(a.ctx());
    return z3::ite(a + b > most, most, a + b);
  }
  static Num minus(const Num& a, const Num& b) { return z3::ite(a > b, a - b, a.ctx().int_val(0)); }
  static Num divided(const Num& a, unsigned divisor) { return a / a.ctx().int_val(divisor); }

  template <class T>
  static T ite(const Bool& condition, const T& then, const T& otherwise) {
    if constexpr (Reflected<T>) {
      T chosen = then;
      forEachMember<T>([&](auto member, auto) {
        chosen.*member.pointer = ite(condition, then.*member.pointer, otherwise.*member.pointer);
      });
      return chosen;
    } else {
      return z3::ite(condition, then, otherwise);
    }
  }
  template <class E>
  static Bool is(const z3::expr& value, E word) {
    return value == static_cast<int>(word);
  }
  static z3::expr like(const z3::expr& sample, bool value) { return sample.ctx().bool_val(value); }
  template <class T>
  requires std::is_enum_v<T> || std::is_same_v<T, int> || std::is_same_v<T, unsigned>
  static z3::expr like(const z3::expr& sample, T value) { return sample.ctx().int_val(static_cast<unsigned>(value)); }

  // Of a text only this is known: its size is a natural number.
  static Num bytes(const Text& text) {
    const z3::func_decl size = z3::function("bytes", text.get_sort(), text.get_sort());
    const Num n = size(text);
    return z3::ite(n < 0, text.ctx().int_val(0), z3::ite(n > cap(text.ctx()), cap(text.ctx()), n));
  }
  template <class T>
  static Num length(const List<T>& list) {
    return list.length;
  }
  template <class T>
  static void appendIf(const Bool& condition, List<T>& list, const T& value) {
    forEachMember<T>([&](auto member, auto i) {
      z3::expr& column = list.columns[i];
      column = z3::ite(condition, z3::store(column, list.length, value.*member.pointer), column);
    });
    list.length = z3::ite(condition, plus(list.length, list.length.ctx().int_val(1)), list.length);
  }
};

// Member by member.
template <Reflected T>
z3::expr same(const T& a, const T& b) {
  std::vector<z3::expr> equal;
  forEachMember<T>([&](auto member, auto) {
    using M = typename decltype(member)::Type;
    if constexpr (Reflected<M>)
      equal.push_back(same(a.*member.pointer, b.*member.pointer));
    else
      equal.push_back(a.*member.pointer == b.*member.pointer);
  });
  z3::expr all = equal.front();
  for (std::size_t i = 1; i < equal.size(); ++i) all = all && equal[i];
  return all;
}

}  // namespace witan::agents::proof
