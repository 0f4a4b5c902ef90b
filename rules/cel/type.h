// Types of expressions and fields. Values, shared and immutable; pure functions.
//
// Written: bool, int, uint, double, string, bytes, timestamp, duration, date, null, dyn, type, list(T), map(K, V),
// optional(T), enum(A, B), record(name: T, ...), tuple(name: T, ...) (a record whose JSON is an array), row(table);
// T? may also be null.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/cel/syntax.h"

namespace witan::rules {

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Type {
  enum class Kind : std::uint8_t {
    dyn,
    null,
    boolean,
    integer,
    uinteger,
    real,
    text,
    bytes,
    timestamp,
    duration,
    date,
    list,
    map,
    type,
    optional,
    record,
    row,
    table,
    variable
  };
  Kind kind = Kind::dyn;
  bool nullable = false;
  bool tuple = false;              // a record's form in JSON
  std::vector<TypePtr> params;     // of list, map, optional; members of a record
  std::vector<std::string> words;  // of an enumeration (which is a text); names of a record's members; or the variable
  std::uint32_t table = 0;         // of a row or table
  // With what lies below it: a named type that names others may grow by each. Kept small by those who read types.
  std::uint32_t size = 1, depth = 1;
};

TypePtr typeOf(Type::Kind kind, std::vector<TypePtr> params = {});
std::string show(const Type& type);

using NamedTypes = std::map<std::string, TypePtr, std::less<>>;
// `tables`: their names, for row(...). A single capital letter is a variable.
Parsed<TypePtr> parseType(std::string_view text, const NamedTypes& named = {},
                          const std::vector<std::string>& tables = {});

// "name: T = default, ..." as arguments of a process or function are declared. `defaultText` is empty if there is none.
struct Parameter {
  std::string name;
  TypePtr type;
  std::string_view defaultText;
  std::uint32_t at = 0;
};
Parsed<std::vector<Parameter>> parseParameters(std::string_view text, const NamedTypes& named,
                                               const std::vector<std::string>& tables);

// May a value of type `from` stand where `to` is expected? Binds variables of `to` in `bound`.
using Bindings = std::map<std::string, TypePtr>;
bool assignable(const TypePtr& to, const TypePtr& from, Bindings& bound);
bool assignable(const TypePtr& to, const TypePtr& from);
TypePtr substitute(const TypePtr& type, const Bindings& bound);
// What is within the type that no field or argument can hold, since no record could; null: nothing.
const Type* unstorable(const Type& type);
// Why the field `name` of this type cannot hold the value; "": it can, and its record gives it back. O(value).
std::string unfit(const Value& value, const Type& type, std::string_view name);
// The type of a list of both.
TypePtr unionOf(const TypePtr& a, const TypePtr& b);

}  // namespace witan::rules
