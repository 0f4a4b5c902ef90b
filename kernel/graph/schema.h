// The types of messages: a closed subset of JSON Schema 2020-12. A Schema is a value; pure functions, any thread.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace witan::graph {

inline constexpr int kMaxSchemaDepth = 8;
inline constexpr std::size_t kMaxIdsInList = 256;

struct Schema {
  enum class Kind { object, array, text, integer, boolean };

  Kind kind = Kind::object;
  std::map<std::string, Schema, std::less<>> properties;
  std::set<std::string, std::less<>> required;
  std::vector<Schema> items;                                        // of an array: exactly one
  std::optional<std::set<std::string>> words;                       // the enumeration of a text
  std::int64_t longest = std::numeric_limits<std::int64_t>::max();  // maxItems, or maxLength in code points
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
};

// Errors: invalid; the message names the place below `where`. Depth at most kMaxSchemaDepth.
Result<Schema> readSchema(const json::value& from, const std::string& where, int depth = 0);

// Whether every value of `from` is a value of `to` (check GL06). It may say no where the answer is yes, never the other
// way round.
bool assignable(const Schema& from, const Schema& to);

bool conforms(const json::value& value, const Schema& schema);

struct Field {
  const Schema* schema;
  bool required;  // all the way from the top
};
// `path` names members, joined by dots, through objects only. The field lives as long as the schema.
std::optional<Field> fieldOf(const Schema& schema, std::string_view path);
// A required text or integer: what may serve as a key.
bool isKeyField(const Schema& schema, std::string_view path);

// The value at a path; null if a member is missing.
const json::value* valueAt(const json::value& body, std::string_view path);

bool isName(std::string_view text);  // [A-Za-z0-9_-]+
bool isPath(std::string_view text);  // names joined by dots, at most 256 bytes
std::size_t codePoints(std::string_view utf8);
// An integer of 64 bits with sign.
std::optional<std::int64_t> integerOf(const json::value& value);

}  // namespace witan::graph
