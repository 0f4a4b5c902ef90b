// ar:type: how an ontology writes the type of a field (tau_D of Def. A.1).
//
//   type := string | integer | bool | date | time | WORD
//         | enum(A,B,...) | list<type> | optional<type> | map<string,type> | tuple(name:type,...) |
//         record(name:type,...)
//
// WORD is a type that the ontology only names ("decimal"). A tuple is written as a JSON list, a record as an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace witan::ontology {

struct FieldType {
  enum class Kind : std::uint8_t { word, enumeration, list, optional, map, tuple, record };
  Kind kind = Kind::word;
  std::string word;                // of a plain type
  std::vector<std::string> names;  // of an enumeration's words or of members
  std::vector<FieldType> parts;    // what a list, an optional or a map holds; members' types
};

// At most 8 deep. Errors say what was expected and where in the text.
Result<FieldType> parseFieldType(std::string_view text);

// As a compiled domain's declaration shows it: map<text, enum(A, B)> (kernel/domain_module.h, FieldInfo::type).
std::string asDeclared(const FieldType&);

}  // namespace witan::ontology
