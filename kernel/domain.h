// What a domain author writes, as concepts: Adjudicable (seed 000, Def. A.13), Domain (A.15), Counselable (A.61).
//
// docs/ADD_A_DOMAIN.md walks through one; domains/budget/budget.cpp is the smallest.
//
//   struct State  { using Policy = ...; fields... };            // a record of all fields (Def. A.1)
//   using Fields  = FieldList<...>;                             // its atomic components, named
//   struct Spend  { args...; using Reads, Writes; void apply(Mutator<Fields>&, Time) const; };      // an action
//   struct Cap    : NamedInvariant<"CAP"> { rule; using Reads; static Verdict check(const View<Cap>&); };
//   struct Clerk  : Role<"Clerk", Spend> {};
//   struct Budget { name, title; using Fields, Roles, Invariants; static counselors(); ... };       // the domain
//
// An invariant may also have
//   static Verdict checkRow(const View<I>&, const RowView<I, table>&), derived from NamedRowInvariant<"ID", &State::x>
//     instead of check: it holds iff it holds for every row. If a row's verdict rests on more than that row, it has
//     also static bool othersStand(const View<I>&, const Touched<I, Fields>&) which proves, given that the state before
//     the candidate passed, that every row which was not written still does; false means "not proven", and the rows are
//     checked; or
//   static bool stillPasses(const View<I>&, const Touched<I, Fields>&)
//     besides check: given that the state before the candidate passed, a quick proof that the candidate does too;
//     false means "not proven", and check decides; or
//   static std::optional<Verdict> checkTouched(const View<I>&, const Touched<I, Fields>&)
//     besides check: under the same premise, exactly what check would say, its message included; nothing means "not
//     known", and check decides. For invariants over a whole registry, where a rejection must not cost a scan.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "kernel/mutator.h"
#include "kernel/record/verdict.h"
#include "kernel/view.h"

namespace witan::kernel {

template <class... P>
struct ProcessList {};
template <FixedString Name, class... P>
struct Role {
  static constexpr std::string_view name = Name.view();
  using Processes = ProcessList<P...>;
};
template <class... R>
struct RoleList {};
template <class... I>
struct InvariantList {
  static_assert(sizeof...(I) <= 64, "a domain has at most 64 invariants");
};

// What an invariant derives from: its id; and the table whose rows it is about, if it holds iff each of them does.
template <FixedString Id>
struct NamedInvariant {
  static constexpr std::string_view id = Id.view();
};
template <FixedString Id, auto TablePointer>
struct NamedRowInvariant : NamedInvariant<Id> {
  static constexpr auto table = TablePointer;
};

template <class I>
concept RowInvariant = requires {
  I::table;
}
&&requires { &I::checkRow; };

template <class I>
concept Invariant = requires {
  { I::id } -> std::convertible_to<std::string_view>;
  { I::rule } -> std::convertible_to<std::string_view>;
  typename I::Reads;
}
&&(RowInvariant<I> || requires(const View<I>& v) {
  { I::check(v) } -> std::same_as<Verdict>;
});

template <class I, class Fields>
concept TouchedInvariant = requires(const View<I>& v, const Touched<I, Fields>& t) {
  { I::stillPasses(v, t) } -> std::same_as<bool>;
};

template <class I, class Fields>
concept ReferringInvariant = RowInvariant<I> && requires(const View<I>& v, const Touched<I, Fields>& t) {
  { I::othersStand(v, t) } -> std::same_as<bool>;
};

template <class I, class Fields>
concept DecidedByTouched = requires(const View<I>& v, const Touched<I, Fields>& t) {
  { I::checkTouched(v, t) } -> std::same_as<std::optional<Verdict>>;
};

template <class P, class Fields>
concept Process = Reflected<P> && requires(const P& p, Mutator<Fields>& m, Time t) {
  { P::name } -> std::convertible_to<std::string_view>;
  typename P::Reads;
  typename P::Writes;
  p.apply(m, t);
};

template <class List>
struct FootprintOfProcesses;
template <class... P>
struct FootprintOfProcesses<ProcessList<P...>> {
  using Type = typename Union<typename P::Reads..., typename P::Writes...>::Type;
};

// The reader tag of a role: View<RoleReader<R>> is Slice_D(r) (Def. A.6 and A.7).
template <class R>
struct RoleReader {
  using Reads = typename FootprintOfProcesses<typename R::Processes>::Type;
};
template <class R>
using Slice = View<RoleReader<R>>;

template <class List>
struct AllProcesses;
template <class... R>
struct AllProcesses<RoleList<R...>> {
  template <class List>
  struct Types;
  template <class... P>
  struct Types<ProcessList<P...>> {
    using Tuple = std::tuple<P...>;
  };
  using Tuple = decltype(std::tuple_cat(std::declval<typename Types<typename R::Processes>::Tuple>()...));
};

template <class Tuple>
struct VariantOf;
template <class... P>
struct VariantOf<std::tuple<P...>> {
  using Type = std::variant<P...>;
};
// Every action of a domain with these roles: the type that D::sample returns.
template <class Roles>
using AnyActionOf = typename VariantOf<typename AllProcesses<Roles>::Tuple>::Type;

template <class List, class Fields>
inline constexpr bool allInvariants = false;
template <class... I, class Fields>
inline constexpr bool allInvariants<InvariantList<I...>, Fields> = (Invariant<I> && ...);

template <class Tuple, class Fields>
inline constexpr bool allProcesses = false;
template <class... P, class Fields>
inline constexpr bool allProcesses<std::tuple<P...>, Fields> = (Process<P, Fields> && ...);

// Def. A.8 in types: every field of a role's footprint lies in the footprint of one of its processes. By A.6 it is so
// by construction; the assertion guards the construction.
template <class R>
constexpr bool wellFormedRole() {
  bool ok = true;
  forEachField<typename RoleReader<R>::Reads>([&]<class F>() {
    ok = ok && [&]<class... P>(ProcessList<P...>) {
      return (contains<F, typename Union<typename P::Reads, typename P::Writes>::Type> || ...);
    }(typename R::Processes{});
  });
  return ok;
}
template <class... R>
constexpr bool wellFormedRoles(RoleList<R...>) {
  return (wellFormedRole<R>() && ...);
}

template <class D>
concept Adjudicable = requires {
  { D::name } -> std::convertible_to<std::string_view>;
  typename D::Fields;
  typename D::Roles;
  typename D::Invariants;
  requires allInvariants<typename D::Invariants, typename D::Fields>;
  requires allProcesses < typename AllProcesses<typename D::Roles>::Tuple,
  typename D::Fields > ;
};

template <class D>
concept Domain = Adjudicable<D> && requires {
  requires wellFormedRoles(typename D::Roles{});
};

template <class D>
concept Counselable = Domain<D> && requires {
  { D::counselors() } -> std::convertible_to<std::vector<std::string>>;
};

}  // namespace witan::kernel
