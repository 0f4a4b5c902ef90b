#include "rules/domain/value_json.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"

namespace witan::rules {

using Kind = Type::Kind;

namespace {

std::string_view viewOf(const json::string& text) { return {text.data(), text.size()}; }

template <class T>
Result<Value> plain(const json::value& from, const std::string& where) {
  T value{};
  WITAN_DO(readJson(from, value, where));
  return Value::of(value);
}

Result<Value> readText(Arena& arena, const json::value& from, const Type& type, const std::string& where) {
  if (!from.is_string()) return wrongJsonType(where, type.words.empty() ? "text" : show(type), from);
  const std::string_view text = viewOf(from.get_string());
  if (!type.words.empty() && std::ranges::find(type.words, text) == type.words.end())
    return invalid(concat(where, ": ", inQuotes(clip(text)), " is no word of ", show(type)));
  return arena.copy(text);
}

// The members of an object by the names of a record, in its order.
Result<Value> readRecord(Arena& arena, const json::value& from, const Type& type, const std::string& where) {
  std::vector<Value> items;
  if (type.tuple) {
    if (!from.is_array() || from.get_array().size() != type.params.size())
      return wrongJsonType(where, concat("a list of ", type.params.size(), " elements"), from);
    for (std::size_t i = 0; i < type.params.size(); ++i) {
      WITAN_TRY(item, readValue(arena, from.get_array()[i], *type.params[i], concat(where, ".", type.words[i])));
      items.push_back(item);
    }
    return arena.listOf(items);
  }
  if (!from.is_object()) return wrongJsonType(where, "an object", from);
  for (const auto& member : from.get_object())
    if (std::ranges::find(type.words, std::string_view(member.key())) == type.words.end())
      return invalid(concat(where, ": unknown member ", inQuotes(clip(member.key()))));
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    const json::value* given = from.get_object().if_contains(type.words[i]);
    if (given == nullptr && !type.params[i]->nullable)
      return invalid(concat(where, ": ", inQuotes(type.words[i]), " is missing"));
    Value item;
    if (given != nullptr) {
      WITAN_SET(item, readValue(arena, *given, *type.params[i], concat(where, ".", type.words[i])));
    }
    items.push_back(item);
  }
  return arena.listOf(items);
}

template <class Range, class Write>
void writeMembers(std::string& out, const Range& order, Write write) {
  out += '{';
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0) out += ',';
    write(order[i]);
  }
  out += '}';
}

// Indexes in the order of JSON keys.
template <class KeyOf>
std::vector<std::size_t> byKey(std::size_t n, KeyOf keyOf) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return jsonKeyLess(keyOf(a), keyOf(b)); });
  return order;
}

}  // namespace

Result<Value> readValue(Arena& arena, const json::value& from, const Type& type, const std::string& where) {
  if (from.is_null() && (type.nullable || type.kind == Kind::null)) return Value{};
  switch (type.kind) {
    case Kind::boolean: return plain<bool>(from, where);
    case Kind::integer: return plain<std::int64_t>(from, where);
    case Kind::uinteger:
      if (from.is_uint64()) return Value::of(from.get_uint64());  // beyond what other integers may be
      return plain<std::uint64_t>(from, where);
    case Kind::real:
      if (!from.is_number()) return wrongJsonType(where, "a number", from);
      return Value::of(from.to_number<double>());
    case Kind::text: return readText(arena, from, type, where);
    case Kind::timestamp: return plain<Time>(from, where);
    case Kind::date: return plain<Date>(from, where);
    case Kind::duration: {
      const auto nanos = from.is_string() ? parseDuration(viewOf(from.get_string())) : std::nullopt;
      return nanos ? Value::nanos(*nanos) : Result<Value>(wrongJsonType(where, "a duration (such as \"36h\")", from));
    }
    case Kind::bytes: {
      if (!from.is_string()) return wrongJsonType(where, "bytes in base64", from);
      WITAN_TRY(bytes, fromBase64(viewOf(from.get_string())));
      return arena.copy(bytes, Tag::bytes);
    }
    case Kind::list: {
      if (!from.is_array()) return wrongJsonType(where, "a list", from);
      std::vector<Value> items;
      for (std::size_t i = 0; i < from.get_array().size(); ++i) {
        WITAN_TRY(item, readValue(arena, from.get_array()[i], *type.params[0], concat(where, "[", i, "]")));
        items.push_back(item);
      }
      return arena.listOf(items);
    }
    case Kind::map: {
      if (!from.is_object()) return wrongJsonType(where, "an object", from);
      std::vector<Value> items;
      for (const auto& [key, value] : from.get_object()) {
        WITAN_TRY(item, readValue(arena, value, *type.params[1], concat(where, ".", clip(key))));
        items.push_back(arena.copy({key.data(), key.size()}));
        items.push_back(item);
      }
      return arena.listOf(items, Tag::map);
    }
    case Kind::record: return readRecord(arena, from, type, where);
    default: return invalid(concat(where, ": a field cannot be of type ", show(type)));
  }
}

void writeValue(std::string& out, const Value& v, const Type& type) {
  switch (v.tag) {
    case Tag::null:
    case Tag::absent: out += "null"; return;
    case Tag::boolean: out += v.b ? "true" : "false"; return;
    case Tag::integer: appendInteger(out, v.i); return;
    case Tag::uinteger: appendInteger(out, v.u); return;
    case Tag::real: appendJsonNumber(out, v.d); return;
    case Tag::text: appendJsonString(out, v.str()); return;
    case Tag::bytes: appendJsonString(out, toBase64(v.str())); return;
    case Tag::timestamp: writeJson(out, Time{v.i}); return;
    case Tag::date: writeJson(out, Date{static_cast<std::int32_t>(v.i)}); return;
    case Tag::map:
      writeMembers(out, byKey(v.n, [&](std::size_t i) { return v.key(i).str(); }), [&](std::size_t i) {
        appendJsonString(out, v.key(i).str());
        out += ':';
        writeValue(out, v.value(i), *type.params[1]);
      });
      return;
    case Tag::list: break;
    default: appendJsonString(out, display(v)); return;
  }
  if (type.kind == Kind::record && !type.tuple) {
    writeMembers(out, byKey(type.words.size(), [&](std::size_t i) { return std::string_view(type.words[i]); }),
                 [&](std::size_t i) {
                   appendJsonString(out, type.words[i]);
                   out += ':';
                   writeValue(out, v.items[i], *type.params[i]);
                 });
    return;
  }
  out += '[';
  for (std::uint32_t i = 0; i < v.n; ++i) {
    if (i > 0) out += ',';
    writeValue(out, v.items[i], *type.params[type.kind == Kind::record ? i : 0]);
  }
  out += ']';
}

json::object schemaOf(const Type& type) {
  json::object schema;
  const auto plainly = [&](const char* name, const char* format = nullptr) {
    schema["type"] = type.nullable ? json::value(json::array{name, "null"}) : json::value(name);
    if (format != nullptr) schema["format"] = format;
  };
  switch (type.kind) {
    case Kind::boolean: plainly("boolean"); break;
    case Kind::integer:
    case Kind::uinteger: plainly("integer"); break;
    case Kind::real: plainly("number"); break;
    case Kind::timestamp: plainly("string", "date-time"); break;
    case Kind::date: plainly("string", "date"); break;
    case Kind::list:
      plainly("array");
      schema["items"] = schemaOf(*type.params[0]);
      break;
    case Kind::map:
      plainly("object");
      schema["additionalProperties"] = schemaOf(*type.params[1]);
      break;
    case Kind::record: {
      plainly(type.tuple ? "array" : "object");
      if (type.tuple) break;
      json::object members;
      for (std::size_t i = 0; i < type.words.size(); ++i) members[type.words[i]] = schemaOf(*type.params[i]);
      schema["properties"] = std::move(members);
      schema["additionalProperties"] = false;
      break;
    }
    default:
      plainly("string");
      if (!type.words.empty()) {
        json::array words(type.words.begin(), type.words.end());
        if (type.nullable) words.push_back(nullptr);
        schema["enum"] = std::move(words);
      }
  }
  return schema;
}

Value valueOfJson(Arena& arena, const json::value& from) {
  switch (from.kind()) {
    case json::kind::bool_: return Value::of(from.get_bool());
    case json::kind::int64: return Value::of(from.get_int64());
    case json::kind::uint64: return Value::of(from.get_uint64());
    case json::kind::double_: return Value::of(from.get_double());
    case json::kind::string: return arena.copy(viewOf(from.get_string()));
    case json::kind::array: {
      std::vector<Value> items;
      for (const json::value& item : from.get_array()) items.push_back(valueOfJson(arena, item));
      return arena.listOf(items);
    }
    case json::kind::object: {
      std::vector<Value> items;
      for (const auto& [key, value] : from.get_object()) {
        items.push_back(arena.copy({key.data(), key.size()}));
        items.push_back(valueOfJson(arena, value));
      }
      return arena.listOf(items, Tag::map);
    }
    default: return {};
  }
}

Value firstValue(Arena& arena, const Type& type) {
  if (type.nullable) return {};
  switch (type.kind) {
    case Kind::boolean: return Value::of(false);
    case Kind::integer: return Value::of(std::int64_t{0});
    case Kind::uinteger: return Value::of(std::uint64_t{0});
    case Kind::real: return Value::of(0.0);
    case Kind::bytes: return Value::text("", Tag::bytes);
    case Kind::timestamp: return Value::of(Time{});
    case Kind::date: return Value::of(Date{});
    case Kind::duration: return Value::nanos(0);
    case Kind::list: return Value::list({});
    case Kind::map: return Value::map({});
    case Kind::record: {
      std::vector<Value> items;
      for (const TypePtr& item : type.params) items.push_back(firstValue(arena, *item));
      return arena.listOf(items);
    }
    default: return Value::text(type.words.empty() ? std::string_view() : std::string_view(type.words[0]));
  }
}

std::string typeName(const Type& type) {
  switch (type.kind) {
    case Kind::integer: return "integer";
    case Kind::text: return type.words.empty() ? "text" : show(type);
    case Kind::timestamp: return "time";
    case Kind::list: return "list of " + typeName(*type.params[0]);
    default: return show(type);
  }
}

}  // namespace witan::rules
