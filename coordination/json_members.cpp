#include "coordination/json_members.h"

#include <algorithm>
#include <cctype>

#include "base/quote.h"
#include "base/string_util.h"

namespace witan::kernel::joint {

namespace {

bool isPlain(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
}

bool contains(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string memberPath(std::string_view path, std::string_view name) {
  if (isPlain(name)) return concat(path, ".", name);
  return concat(path, "[", inQuotes(name), "]");
}

std::string elementPath(std::string_view path, std::size_t index) { return concat(path, "[", index, "]"); }

Status hasMembers(const json::value& value, std::string_view path, std::initializer_list<std::string_view> required,
                  std::initializer_list<std::string_view> optional) {
  if (!value.is_object()) return wrongJsonType(path, "an object", value);
  for (const auto& member : value.get_object()) {
    const std::string_view name = member.key();
    if (contains(required, name) || contains(optional, name)) continue;
    const std::string known = joined(required) + (optional.size() == 0 ? "" : ", " + joined(optional));
    return invalid(memberPath(path, name) + ": unknown member", "known are " + known);
  }
  for (std::string_view name : required)
    if (!value.get_object().contains(name)) return invalid(memberPath(path, name) + ": is missing");
  return okStatus();
}

Result<std::string> readName(const json::value& value, std::string_view path, std::size_t most) {
  std::string name;
  WITAN_DO(readText(value, name, path));
  if (name.empty()) return invalid(concat(path, ": must not be empty"));
  if (name.size() > most) return invalid(concat(path, ": longer than ", most, " bytes"));
  return name;
}

Result<std::string> readPrimitive(const json::value& value, std::string_view path) {
  if (value.is_object() || value.is_array())
    return wrongJsonType(path, "text, a number, true, false or null (the world is flat)", value);
  if (value.is_string() && value.get_string().size() > kTextMax)
    return invalid(concat(path, ": longer than ", kTextMax, " bytes"));
  return canonicalJson(value);
}

}  // namespace witan::kernel::joint
