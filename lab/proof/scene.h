// What a theorem is about: arbitrary states, tools and so on, and what is assumed of them.
//
// A scene owns nothing but its assumptions; its context must outlive it and all that it made. One scene a question.
#pragma once

#include <utility>

#include "lab/proof/symbolic.h"

namespace witan::agents::proof {

class Scene {
 public:
  explicit Scene(z3::context& context) : context_(context), assumed_(context.bool_val(true)) {
    assume(Symbolic::cap(context) >= static_cast<int>(Symbolic::kSmallestCap));
  }

  // Any value of a run-time type: a number up to cap, a truth value, a word of a list.
  template <class T>
  z3::expr any(const std::string& name) {
    if constexpr (std::is_same_v<T, bool>) {
      return context_.bool_const(name.c_str());
    } else {
      const z3::expr n = context_.int_const(name.c_str());
      assume(n >= 0);
      if constexpr (std::is_same_v<T, decision::Natural>)
        assume(n <= Symbolic::cap(context_));
      else if constexpr (std::is_enum_v<T>)
        assume(n < static_cast<int>(enumNames<T>().size()));
      return n;
    }
  }

  // Any S<Symbolic>: its members get the kind that they have in S<RunTime>, and are named after it.
  template <template <class> class S>
  S<Symbolic> anyOf(const std::string& name) {
    return anyMembers<S>(name, std::make_index_sequence<memberCount<S<decision::RunTime>>>{});
  }

  // Any list: an array a member, and a length.
  template <template <class> class S>
  SymbolicList<S<Symbolic>> anyListOf(const std::string& name) {
    SymbolicList<S<Symbolic>> list{{}, any<decision::Natural>(name + ".length")};
    forEachMember<S<decision::RunTime>>([&](auto member, auto) {
      const z3::sort cell =
          std::is_same_v<typename decltype(member)::Type, bool> ? context_.bool_sort() : context_.int_sort();
      const std::string column = concat(name, ".", member.name);
      list.columns.push_back(context_.constant(column.c_str(), context_.array_sort(context_.int_sort(), cell)));
    });
    return list;
  }

  z3::expr number(unsigned n) const { return context_.int_val(n); }
  z3::context& context() const { return context_; }

  void assume(const z3::expr& fact) { assumed_ = assumed_ && fact; }
  const z3::expr& assumed() const { return assumed_; }

 private:
  template <class T>
  struct Shape;  // S<RunTime> -> S
  template <template <class> class S>
  struct Shape<S<decision::RunTime>> {
    static S<Symbolic> any(Scene& scene, const std::string& name) { return scene.anyOf<S>(name); }
  };

  template <class T>
  auto anyMember(const std::string& name) {
    if constexpr (Reflected<T>)
      return Shape<T>::any(*this, name);
    else
      return any<T>(name);
  }

  template <template <class> class S, std::size_t... I>
  S<Symbolic> anyMembers(const std::string& name, std::index_sequence<I...>) {
    constexpr auto members = S<decision::RunTime>::witanMembers();
    return S<Symbolic>{anyMember<typename std::remove_cvref_t<decltype(memberAt<I>(members))>::Type>(
        concat(name, ".", memberAt<I>(members).name))...};
  }

  z3::context& context_;
  z3::expr assumed_;
};

}  // namespace witan::agents::proof
