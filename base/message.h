// Messages: structs that say each member once, with its type, its name and a note.
//
//   WITAN_STRUCT(CutRequest, (std::string, device, "Id or name of the peer", 1))
//
// They are reflected (base/reflect.h); the notes become descriptions in JSON Schemas (base/json_schema.h).
#pragma once

#include "base/json_schema.h"

namespace witan {

template <class T>
using ByName = std::map<std::string, T>;

// A message without members.
struct Nothing {
  WITAN_NO_MEMBERS
};

}  // namespace witan

// Each row: (type, name, note...), the note as MemberNote takes it; a type with a comma needs an alias.
#define WITAN_FIELD_DECLARED_(Type, name, ...) Type name{};
#define WITAN_FIELD_NOTE_(Type, name, ...) \
  ::witan::MemberNote{::witan::memberName(BOOST_PP_STRINGIZE(name)), __VA_ARGS__},

// Inside a struct that has more than its members.
#define WITAN_FIELDS(Name, ...)                                                                                     \
  using WitanSelf = Name;                                                                                           \
  WITAN_ROWS_(WITAN_FIELD_DECLARED_, __VA_ARGS__)                                                                   \
  static constexpr std::string_view witanName() { return BOOST_PP_STRINGIZE(Name); }                                \
  static constexpr auto witanMembers() { return ::witan::MemberList{WITAN_ROWS_(WITAN_ROW_MEMBER_, __VA_ARGS__)}; } \
  static constexpr std::array notes{WITAN_ROWS_(WITAN_FIELD_NOTE_, __VA_ARGS__)};

#define WITAN_STRUCT(Name, ...)     \
  struct Name {                     \
    WITAN_FIELDS(Name, __VA_ARGS__) \
  };
