#include "kernel/graph/schema.h"

#include <algorithm>

namespace witan::graph {

namespace {

constexpr std::size_t kMaxPathBytes = 256;

Status knownMembers(const json::object& object, std::initializer_list<std::string_view> known,
                    const std::string& where) {
  for (const auto& member : object)
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end())
      return invalid(where + ": unknown member \"" + std::string(member.key().substr(0, 64)) + "\"");
  return okStatus();
}

Status readLimit(const json::object& from, std::string_view member, std::int64_t least, std::int64_t& into,
                 const std::string& where) {
  const json::value* given = from.if_contains(member);
  if (given == nullptr) return okStatus();
  const auto number = integerOf(*given);
  if (!number || *number < least) return invalid(where + "." + std::string(member) + ": an integer is expected");
  into = *number;
  return okStatus();
}

Result<Schema> readObject(const json::object& from, const std::string& where, int depth) {
  WITAN_DO(knownMembers(from, {"type", "properties", "required"}, where));
  Schema schema;
  if (const json::value* given = from.if_contains("properties")) {
    if (!given->is_object()) return invalid(where + ".properties: an object is expected");
    for (const auto& member : given->get_object()) {
      const std::string name(member.key());
      if (!isName(name) || name.size() > kMaxPathBytes) return invalid(where + ".properties: a name is expected");
      WITAN_TRY(inner, readSchema(member.value(), where + "." + name, depth + 1));
      schema.properties.emplace(name, std::move(inner));
    }
  }
  if (const json::value* given = from.if_contains("required")) {
    if (!given->is_array()) return invalid(where + ".required: a list is expected");
    for (const json::value& name : given->get_array())
      if (!name.is_string() || !schema.properties.contains(std::string_view(name.get_string())) ||
          !schema.required.emplace(name.get_string()).second)
        return invalid(where + ".required: each is a property, once");
  }
  return schema;
}

Result<Schema> readArray(const json::object& from, const std::string& where, int depth) {
  WITAN_DO(knownMembers(from, {"type", "items", "maxItems"}, where));
  Schema schema{.kind = Schema::Kind::array};
  const json::value* items = from.if_contains("items");
  if (items == nullptr) return invalid(where + ".items is missing");
  WITAN_TRY(inner, readSchema(*items, where + ".items", depth + 1));
  schema.items.push_back(std::move(inner));
  WITAN_DO(readLimit(from, "maxItems", 0, schema.longest, where));
  return schema;
}

Result<Schema> readText(const json::object& from, const std::string& where) {
  WITAN_DO(knownMembers(from, {"type", "enum", "maxLength"}, where));
  Schema schema{.kind = Schema::Kind::text};
  if (const json::value* given = from.if_contains("enum")) {
    if (!given->is_array() || given->get_array().empty()) return invalid(where + ".enum: a list of texts is expected");
    schema.words.emplace();
    for (const json::value& word : given->get_array())
      if (!word.is_string() || !schema.words->emplace(word.get_string()).second)
        return invalid(where + ".enum: each is a text, once");
  }
  WITAN_DO(readLimit(from, "maxLength", 0, schema.longest, where));
  return schema;
}

Result<Schema> readIntegerSchema(const json::object& from, const std::string& where) {
  WITAN_DO(knownMembers(from, {"type", "minimum", "maximum"}, where));
  Schema schema{.kind = Schema::Kind::integer};
  const std::int64_t least = schema.minimum;
  WITAN_DO(readLimit(from, "minimum", least, schema.minimum, where));
  WITAN_DO(readLimit(from, "maximum", least, schema.maximum, where));
  if (schema.minimum > schema.maximum) return invalid(where + ": the minimum exceeds the maximum");
  return schema;
}

bool assignableTexts(const Schema& from, const Schema& to) {
  if (to.words)
    return from.words && std::includes(to.words->begin(), to.words->end(), from.words->begin(), from.words->end());
  std::int64_t longest = from.longest;
  if (from.words) {
    longest = 0;
    for (const std::string& word : *from.words) longest = std::max(longest, std::int64_t(codePoints(word)));
  }
  return longest <= to.longest;
}

bool assignableObjects(const Schema& from, const Schema& to) {
  if (!std::includes(from.required.begin(), from.required.end(), to.required.begin(), to.required.end())) return false;
  return std::all_of(from.properties.begin(), from.properties.end(), [&](const auto& property) {
    const auto other = to.properties.find(property.first);
    return other != to.properties.end() && assignable(property.second, other->second);
  });
}

bool objectConforms(const json::object& object, const Schema& schema) {
  for (const std::string& name : schema.required)
    if (!object.contains(name)) return false;
  return std::all_of(object.begin(), object.end(), [&](const auto& member) {
    const auto property = schema.properties.find(std::string_view(member.key()));
    return property != schema.properties.end() && conforms(member.value(), property->second);
  });
}

}  // namespace

bool isName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool isPath(std::string_view text) {
  if (text.size() > kMaxPathBytes) return false;
  for (std::size_t end = 0; (end = text.find('.')) != text.npos; text.remove_prefix(end + 1))
    if (!isName(text.substr(0, end))) return false;
  return isName(text);
}

std::size_t codePoints(std::string_view utf8) {
  return std::size_t(std::count_if(utf8.begin(), utf8.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

std::optional<std::int64_t> integerOf(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    return std::int64_t(value.get_uint64());
  return std::nullopt;
}

Result<Schema> readSchema(const json::value& from, const std::string& where, int depth) {
  if (depth > kMaxSchemaDepth)
    return invalid(where + ": nested more than " + std::to_string(kMaxSchemaDepth) + " deep");
  const json::object* object = from.if_object();
  const json::value* type = object != nullptr ? object->if_contains("type") : nullptr;
  if (type == nullptr || !type->is_string()) return invalid(where + ": a schema with a type is expected");
  const std::string_view kind = type->get_string();
  if (kind == "object") return readObject(*object, where, depth);
  if (kind == "array") return readArray(*object, where, depth);
  if (kind == "string") return readText(*object, where);
  if (kind == "integer") return readIntegerSchema(*object, where);
  if (kind != "boolean") return invalid(where + ".type: object, array, string, integer or boolean is expected");
  WITAN_DO(knownMembers(*object, {"type"}, where));
  return Schema{.kind = Schema::Kind::boolean};
}

bool assignable(const Schema& from, const Schema& to) {
  if (from.kind != to.kind) return false;
  switch (from.kind) {
    case Schema::Kind::object: return assignableObjects(from, to);
    case Schema::Kind::array: return assignable(from.items[0], to.items[0]) && from.longest <= to.longest;
    case Schema::Kind::text: return assignableTexts(from, to);
    case Schema::Kind::integer: return to.minimum <= from.minimum && from.maximum <= to.maximum;
    case Schema::Kind::boolean: return true;
  }
  return false;
}

bool conforms(const json::value& value, const Schema& schema) {
  switch (schema.kind) {
    case Schema::Kind::object: return value.is_object() && objectConforms(value.get_object(), schema);
    case Schema::Kind::array: {
      const json::array* list = value.if_array();
      return list != nullptr && list->size() <= std::uint64_t(schema.longest) &&
             std::all_of(list->begin(), list->end(), [&](const auto& item) { return conforms(item, schema.items[0]); });
    }
    case Schema::Kind::text:
      return value.is_string() && codePoints(value.get_string()) <= std::uint64_t(schema.longest) &&
             (!schema.words || schema.words->contains(std::string(value.get_string())));
    case Schema::Kind::integer: {
      const auto number = integerOf(value);
      return number && schema.minimum <= *number && *number <= schema.maximum;
    }
    case Schema::Kind::boolean: return value.is_bool();
  }
  return false;
}

std::optional<Field> fieldOf(const Schema& schema, std::string_view path) {
  Field field{&schema, true};
  while (true) {
    const std::size_t end = path.find('.');
    const std::string_view name = path.substr(0, end);
    const auto property = field.schema->properties.find(name);
    if (property == field.schema->properties.end()) return std::nullopt;
    field.required = field.required && field.schema->required.contains(name);
    field.schema = &property->second;
    if (end == path.npos) return field;
    path.remove_prefix(end + 1);
  }
}

bool isKeyField(const Schema& schema, std::string_view path) {
  const auto field = fieldOf(schema, path);
  return field && field->required &&
         (field->schema->kind == Schema::Kind::text || field->schema->kind == Schema::Kind::integer);
}

const json::value* valueAt(const json::value& body, std::string_view path) {
  const json::value* at = &body;
  while (true) {
    const std::size_t end = path.find('.');
    const json::object* object = at->if_object();
    at = object != nullptr ? object->if_contains(path.substr(0, end)) : nullptr;
    if (at == nullptr || end == path.npos) return at;
    path.remove_prefix(end + 1);
  }
}

}  // namespace witan::graph
