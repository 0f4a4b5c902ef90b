// Fields and footprints of a domain's state signature (seed 000, Def. A.1 and A.3), as types.
//
// A domain author declares a State struct and names its atomic components:
//
//   struct SpentA : Scalar<"spentA", &State::spentA> {};
//   struct OrderKind : Column<"order.kind", &State::orders, &OrderRow::kind> {};
//   using Fields = FieldList<SpentA, OrderKind>;
//
// A footprint is a list of such types; membership is decided by the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernel/table.h"

namespace witan::kernel {

template <std::size_t N>
struct FixedString {
  char text[N]{};
  constexpr FixedString(const char (&literal)[N]) {  // NOLINT: implicit, so that a literal is a template argument
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

template <class M>
struct MemberOf;
template <class Owner, class T>
struct MemberOf<T Owner::*> {
  using Class = Owner;
  using Type = T;
};

// One value.
template <FixedString Name, auto Pointer>
struct Scalar {
  static constexpr std::string_view name = Name.view();
  static constexpr bool isColumn = false;
  static constexpr bool lifecycle = false;  // true for a role of the domain's continuant (Remark A.4)
  using State = typename MemberOf<decltype(Pointer)>::Class;
  using Value = typename MemberOf<decltype(Pointer)>::Type;
  static const Value& of(const State& state) { return state.*Pointer; }
  static Value& of(State& state) { return state.*Pointer; }
};

// A finite map from key to value: one column of a table.
template <FixedString Name, auto TablePointer, auto CellPointer>
struct Column {
  static constexpr std::string_view name = Name.view();
  static constexpr bool isColumn = true;
  static constexpr bool isLog = false;
  static constexpr bool lifecycle = false;
  static constexpr auto table = TablePointer;
  static constexpr auto cell = CellPointer;
  using State = typename MemberOf<decltype(TablePointer)>::Class;
  using Row = typename MemberOf<decltype(TablePointer)>::Type::Row;
  using Value = typename MemberOf<decltype(CellPointer)>::Type::value_type;
  static const Cell<Value>& of(const Row& row) { return row.*CellPointer; }
  static Cell<Value>& of(Row& row) { return row.*CellPointer; }
};

// A log: facts in the order they were recorded, the only column of a table whose keys are their numbers (logKey).
template <FixedString Name, auto TablePointer, auto CellPointer>
struct LogColumn : Column<Name, TablePointer, CellPointer> {
  static constexpr bool isLog = true;
};

// A column that only a counselor's edit fills. The kernel writes the counselor and the time of the decision into the
// first two members of what its cells hold (HumanMark, kernel/view.h); a process may empty a cell, and no beginning
// names it.
template <FixedString Name, auto TablePointer, auto CellPointer>
struct HumanColumn : Column<Name, TablePointer, CellPointer> {
  static constexpr bool human = true;
};
template <class F>
inline constexpr bool isHuman = requires {
  F::human;
};

template <class... F>
struct FieldList {
  static constexpr std::size_t size = sizeof...(F);
  static_assert(size <= 64, "a domain has at most 64 fields");
};

// A footprint (Def. A.3). Repetitions are allowed, so that unions are concatenations.
template <class... F>
struct Footprint {};

template <class A, class... Rest>
struct Union;
template <class... A>
struct Union<Footprint<A...>> {
  using Type = Footprint<A...>;
};
template <class... A, class... B, class... Rest>
struct Union<Footprint<A...>, Footprint<B...>, Rest...> {
  using Type = typename Union<Footprint<A..., B...>, Rest...>::Type;
};

template <class F, class List>
inline constexpr bool contains = false;
template <class F, class... A>
inline constexpr bool contains<F, Footprint<A...>> = (std::is_same_v<F, A> || ...);
template <class F, class... A>
inline constexpr bool contains<F, FieldList<A...>> = (std::is_same_v<F, A> || ...);

template <class F, class List>
struct IndexOf;
template <class F, class... A>
struct IndexOf<F, FieldList<A...>> {
  static_assert((std::is_same_v<F, A> || ...), "this field is not in the domain's Fields list");
  static constexpr std::size_t value = [] {
    std::size_t i = 0;
    (void)((std::is_same_v<F, A> || (++i, false)) || ...);
    return i;
  }();
};
template <class F, class List>
inline constexpr std::size_t indexOf = IndexOf<F, List>::value;

// Bit i is set when field i of the domain's list is in the footprint.
using FieldMask = std::uint64_t;

template <class List, class FP>
struct MaskOf;
template <class List, class... F>
struct MaskOf<List, Footprint<F...>> {
  static constexpr FieldMask value = ((FieldMask{1} << indexOf<F, List>) | ... | FieldMask{0});
};
template <class List, class FP>
inline constexpr FieldMask maskOf = MaskOf<List, FP>::value;

// Calls visit.operator()<F>() for each field of a footprint or list.
template <class List>
struct ForEachField;
template <template <class...> class List, class... F>
struct ForEachField<List<F...>> {
  template <class Visit>
  static constexpr void run(Visit&& visit) {
    (visit.template operator()<F>(), ...);
  }
  template <class Test>
  static constexpr bool any(Test&& test) {
    return (test.template operator()<F>() || ...);
  }
};
template <class List, class Visit>
constexpr void forEachField(Visit&& visit) {
  ForEachField<List>::run(std::forward<Visit>(visit));
}
// Whether the test holds for one of them; later ones are not asked.
template <class List, class Test>
constexpr bool anyField(Test&& test) {
  return ForEachField<List>::any(std::forward<Test>(test));
}

template <class T>
struct TypeBox {
  using Type = T;
};

// Does field F live in the table that the member pointer names?
template <class F, auto TablePointer>
constexpr bool livesIn() {
  if constexpr (F::isColumn)
    return samePointer<F::table, TablePointer>;
  else
    return false;
}

// Field indices in the order of their names' bytes: the order of canonical JSON.
template <class List>
struct FieldsByName;
template <class... F>
struct FieldsByName<FieldList<F...>> {
  static constexpr std::array<std::string_view, sizeof...(F)> names{F::name...};
  static constexpr std::array<std::size_t, sizeof...(F)> order = [] {
    std::array<std::size_t, sizeof...(F)> o{};
    for (std::size_t i = 0; i < o.size(); ++i) o[i] = i;
    for (std::size_t i = 1; i < o.size(); ++i)
      for (std::size_t j = i; j > 0 && names[o[j]] < names[o[j - 1]]; --j) std::swap(o[j], o[j - 1]);
    return o;
  }();
};

}  // namespace witan::kernel
