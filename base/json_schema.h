// JSON Schema (2020-12) of values, from their reflection (base/reflect.h): the schema of what base/json_codec.h reads
// and writes.
//
// A struct may describe its members: `static constexpr std::array notes{MemberNote{"name", "what it is"}, ...}`, in the
// order of its members. Those texts become descriptions, and checkNotes() refuses values that break their limits.
// Pure functions; a JsonSchemas belongs to one thread.
#pragma once

#include "base/json_codec.h"

namespace witan {

struct MemberNote {
  std::string_view name;
  std::string_view text;
  std::size_t minLength = 0;  // of a text, in bytes
  std::string_view format{};  // as JSON Schema's "format"
};

template <class T>
concept Noted = Reflected<T> && requires {
  T::notes;
};

// Whether there is a note for each member, in their order.
template <Noted T>
consteval bool notesMatch() {
  bool match = T::notes.size() == memberCount<T>;
  forEachMember<T>([&](auto member, auto index) { match = match && T::notes[index].name == member.name; });
  return match;
}

// Schemas that refer to each other by name, below "#/components/schemas/".
class JsonSchemas {
 public:
  enum class Unknown { allowed, refused };  // members that a struct does not have
  template <class T>
  json::object of(Unknown unknown);
  // Of a reflected struct, without a reference to it.
  template <Reflected T>
  json::object inlined(Unknown unknown);
  // Those that others refer to, by name.
  json::object take() { return std::move(components_); }

 private:
  json::object components_;
};

// of(schemas, unknown) -> json::object. A type with its own JsonCodec has its own JsonSchema beside it.
template <class T>
struct JsonSchema;

inline json::object typeSchema(std::string_view type, std::string_view format = {}) {
  json::object schema{{"type", type}};
  if (!format.empty()) schema["format"] = format;
  return schema;
}

template <>
struct JsonSchema<std::int64_t> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("integer", "int64"); }
};
template <>
struct JsonSchema<std::uint64_t> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return {{"type", "integer"}, {"minimum", 0}}; }
};
template <>
struct JsonSchema<bool> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("boolean"); }
};
template <>
struct JsonSchema<std::string> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("string"); }
};
template <>
struct JsonSchema<Date> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("string", "date"); }
};
template <>
struct JsonSchema<Time> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return typeSchema("string", "date-time"); }
};
template <>
struct JsonSchema<json::value> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) { return {}; }
};
template <>
struct JsonSchema<json::object> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) {
    return {{"type", "object"}, {"additionalProperties", true}};
  }
};
template <NamedEnum E>
struct JsonSchema<E> {
  static json::object of(JsonSchemas&, JsonSchemas::Unknown) {
    json::array words;
    for (const std::string_view name : enumNames<E>()) words.emplace_back(name);
    return {{"type", "string"}, {"enum", std::move(words)}};
  }
};
template <class T>
struct JsonSchema<std::optional<T>> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) {
    return {{"anyOf", json::array{schemas.of<T>(unknown), typeSchema("null")}}};
  }
};
template <class T>
struct JsonSchema<Omittable<T>> : JsonSchema<T> {};
template <class T>
struct JsonSchema<std::vector<T>> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) {
    return {{"type", "array"}, {"items", schemas.of<T>(unknown)}};
  }
};
template <class T>
struct JsonSchema<std::map<std::string, T>> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) {
    return {{"type", "object"}, {"additionalProperties", schemas.of<T>(unknown)}};
  }
};
template <TupleShaped T>
struct JsonSchema<T> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) {
    json::array items;
    forEachMember<T>([&](auto member, auto) { items.push_back(schemas.of<typename decltype(member)::Type>(unknown)); });
    return {{"type", "array"},
            {"prefixItems", std::move(items)},
            {"minItems", memberCount<T>},
            {"maxItems", memberCount<T>}};
  }
};
template <class T>
requires(Reflected<T> && !TupleShaped<T>) struct JsonSchema<T> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) { return schemas.inlined<T>(unknown); }
};

// JSON that was made in the form of T already.
template <class T>
struct JsonAs {
  json::value value;
};
template <class T>
struct JsonCodec<JsonAs<T>> : JsonCodec<json::value> {
  static void write(std::string& out, const JsonAs<T>& v) { appendCanonicalJson(out, v.value); }
};
template <class T>
struct JsonSchema<JsonAs<T>> {
  static json::object of(JsonSchemas& schemas, JsonSchemas::Unknown unknown) { return schemas.of<T>(unknown); }
};

template <class T>
concept NamedStruct = Reflected<T> && !TupleShaped<T> && Noted<T> && requires {
  T::witanName();
};

template <class T>
json::object JsonSchemas::of(Unknown unknown) {
  if constexpr (NamedStruct<T>) {
    const std::string name(T::witanName());
    if (!components_.contains(name)) {
      components_[name] = nullptr;  // holds the place while its members are described
      components_[name] = inlined<T>(unknown);
    }
    return {{"$ref", "#/components/schemas/" + name}};
  } else {
    return JsonSchema<T>::of(*this, unknown);
  }
}

template <Reflected T>
json::object JsonSchemas::inlined(Unknown unknown) {
  json::object properties;
  json::array required;
  forEachMember<T>([&](auto member, auto index) {
    using Type = typename decltype(member)::Type;
    json::object schema = of<Type>(unknown);
    if constexpr (Noted<T>) {
      static_assert(notesMatch<T>(), "each member has a note, in their order");
      const MemberNote& note = T::notes[index];
      schema["description"] = note.text;
      if (note.minLength > 0) schema["minLength"] = note.minLength;
      if (!note.format.empty()) schema["format"] = note.format;
    }
    if (index < requiredMembers<T>() && !isOmittable<Type>) required.emplace_back(member.name);
    properties[member.name] = std::move(schema);
  });
  json::object out{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  if (unknown == Unknown::refused) out["additionalProperties"] = false;
  return out;
}

// Errors: invalid, a text shorter than its note demands; the place is named.
template <Reflected T>
Status checkNotes(const T& value, std::string_view where) {
  Status status = okStatus();
  if constexpr (Noted<T>)
    forEachMember<T>([&](auto member, auto index) {
      using Type = typename decltype(member)::Type;
      const std::string* text = nullptr;
      if constexpr (std::is_same_v<Type, std::string>) text = &(value.*member.pointer);
      if constexpr (std::is_same_v<Type, Omittable<std::string>>)
        text = value.*member.pointer ? &*(value.*member.pointer) : nullptr;
      if (!status.ok() || text == nullptr || text->size() >= T::notes[index].minLength) return;
      status = invalid(concat(where, ".", member.name, ": must not be empty"));
    });
  return status;
}

}  // namespace witan
