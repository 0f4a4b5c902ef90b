// Reflection of plain structs and enumerations: names and members, nothing else.
//
// One list serves every encoding: JSON (base/json_codec.h), Cap'n Proto (base/capnp_codec.h) and printed schemas.
//
//   struct SpendA { std::int64_t n = 0;  WITAN_MEMBERS(SpendA, n) };
//   struct SpendB { WITAN_DECLARED(SpendB, (std::int64_t, n), (std::uint32_t, retries, 3)) };
//   WITAN_ENUM(Kind, PRESUMPTIVE, DEFINITIVE)
//
// A member whose name is a keyword of C++ takes an underscore at its end (`this_`), which no encoding has.
// The order of the list is the order of the Cap'n Proto ordinals: append, never reorder.
#pragma once

#include <array>
#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/seq/enum.hpp>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/seq/for_each_i.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace witan {

template <class Owner, class T>
struct Member {
  std::string_view name;
  T Owner::*pointer;
  using Type = T;
};

// A list of members. As std::tuples the lists took a quarter of the time of compiling the larger headers.
template <std::size_t, class M>
struct MemberAt {
  M member;
};
template <class Indices, class... M>
struct MemberLeaves;
template <std::size_t... I, class... M>
struct MemberLeaves<std::index_sequence<I...>, M...> : MemberAt<I, M>... {
  constexpr explicit MemberLeaves(M... members) : MemberAt<I, M>{members}... {}
};
template <class... M>
struct MemberList : MemberLeaves<std::index_sequence_for<M...>, M...> {
  static constexpr std::size_t size = sizeof...(M);
  constexpr explicit MemberList(M... members) : MemberLeaves<std::index_sequence_for<M...>, M...>(members...) {}
};
template <std::size_t I, class M>
constexpr const M& memberAt(const MemberAt<I, M>& leaf) {
  return leaf.member;
}

consteval std::string_view memberName(std::string_view written) {
  return written.ends_with('_') ? written.substr(0, written.size() - 1) : written;
}

template <class T>
concept Reflected = requires {
  T::witanMembers();
};

template <Reflected T>
inline constexpr std::size_t memberCount = decltype(T::witanMembers())::size;

// Calls visit(member, index constant) for every member in order. All compile-time.
template <Reflected T, class Visit>
constexpr void forEachMember(Visit&& visit) {
  constexpr auto members = T::witanMembers();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(memberAt<I>(members), std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<memberCount<T>>{});
}

// How many leading members an input must give; the others have defaults. `static constexpr std::size_t required`
// in the struct says otherwise than "all".
template <Reflected T>
constexpr std::size_t requiredMembers() {
  if constexpr (requires { T::required; })
    return T::required;
  else
    return memberCount<T>;
}

// Member indices in the order of their names' bytes: the order of canonical JSON.
template <Reflected T>
constexpr auto membersByName() {
  constexpr std::size_t n = memberCount<T>;
  std::array<std::string_view, n> names{};
  forEachMember<T>([&](auto member, auto index) { names[index] = member.name; });
  std::array<std::size_t, n> order{};
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t j = i; j > 0 && names[order[j]] < names[order[j - 1]]; --j) std::swap(order[j], order[j - 1]);
  return order;
}

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  witanEnumNames(e);
};

template <NamedEnum E>
constexpr auto enumNames() {
  return witanEnumNames(E{});
}

template <NamedEnum E>
constexpr std::string_view enumName(E value) {
  constexpr auto names = enumNames<E>();
  const auto i = static_cast<std::size_t>(value);
  return i < names.size() ? names[i] : std::string_view("?");
}

template <NamedEnum E>
constexpr std::optional<E> parseEnum(std::string_view word) {
  constexpr auto names = enumNames<E>();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace witan

#define WITAN_MEMBER_(r, Type, i, name)                             \
  BOOST_PP_COMMA_IF(i)::witan::Member<Type, decltype(Type::name)> { \
    ::witan::memberName(BOOST_PP_STRINGIZE(name)), &Type::name      \
  }

#define WITAN_MEMBERS(Type, ...)                                                                                     \
  static constexpr std::string_view witanName() { return BOOST_PP_STRINGIZE(Type); }                                 \
  static constexpr auto witanMembers() {                                                                             \
    return ::witan::MemberList{BOOST_PP_SEQ_FOR_EACH_I(WITAN_MEMBER_, Type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))}; \
  }

// The rows of a list, each through a macro: WITAN_ROWS_(macro, (type, name, rest...), ...).
#define WITAN_ROW_(r, macro, row) macro row
#define WITAN_ROWS_(macro, ...) BOOST_PP_SEQ_FOR_EACH(WITAN_ROW_, macro, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
#define WITAN_ROW_MEMBER_(Type, name, ...) \
  ::witan::Member<WitanSelf, Type>{::witan::memberName(BOOST_PP_STRINGIZE(name)), &WitanSelf::name},
#define WITAN_ROW_DECLARED_(Type, name, ...) Type name{__VA_ARGS__};

// Declares the members too, each row a (type, name) or (type, name, initial value), and their equality. A type with a
// comma needs an alias.
#define WITAN_DECLARED(Name, ...)                                                                                   \
  using WitanSelf = Name;                                                                                           \
  WITAN_ROWS_(WITAN_ROW_DECLARED_, __VA_ARGS__)                                                                     \
  static constexpr std::string_view witanName() { return BOOST_PP_STRINGIZE(Name); }                                \
  static constexpr auto witanMembers() { return ::witan::MemberList{WITAN_ROWS_(WITAN_ROW_MEMBER_, __VA_ARGS__)}; } \
  friend bool operator==(const Name&, const Name&) = default;

// For a struct that carries nothing.
#define WITAN_NO_MEMBERS \
  static constexpr auto witanMembers() { return ::witan::MemberList<>{}; }

#define WITAN_WORD_(r, unused, i, name) \
  BOOST_PP_COMMA_IF(i) std::string_view { BOOST_PP_STRINGIZE(name) }

#define WITAN_ENUM(Type, ...)                                                                          \
  enum class Type : std::uint8_t { __VA_ARGS__ };                                                      \
  constexpr auto witanEnumNames(Type) {                                                                \
    return std::array{BOOST_PP_SEQ_FOR_EACH_I(WITAN_WORD_, _, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))}; \
  }
