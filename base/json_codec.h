// JSON forms of values, from their reflection (base/reflect.h). Reading is strict: unknown members, missing required
// members and wrong types are errors that name the place. Writing is canonical (RFC 8785): members in key order.
//
// Pure functions; nothing is kept. Limits: strings up to kTextMax bytes, lists up to kListMax elements.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"
#include "base/utf8.h"

namespace witan {

inline constexpr std::size_t kTextMax = 64 * 1024;
inline constexpr std::size_t kListMax = 100'000;

const char* jsonKindName(json::kind kind);
Error wrongJsonType(std::string_view where, std::string_view wanted, const json::value& got);

template <class T>
struct JsonCodec;  // read(value, out, where) -> Status; write(out, value); typeName() as shown to people

template <class T>
Status readJson(const json::value& from, T& into, std::string_view where) {
  return JsonCodec<T>::read(from, into, where);
}

template <class T>
void writeJson(std::string& out, const T& value) {
  JsonCodec<T>::write(out, value);
}

template <class T>
std::string toJson(const T& value) {
  std::string out;
  writeJson(out, value);
  return out;
}

Status readInteger(const json::value& from, std::int64_t& into, std::string_view where);
Status readText(const json::value& from, std::string& into, std::string_view where);

template <>
struct JsonCodec<std::int64_t> {
  static Status read(const json::value& v, std::int64_t& out, std::string_view where) {
    return readInteger(v, out, where);
  }
  static void write(std::string& out, std::int64_t v) { appendInteger(out, v); }
  static std::string typeName() { return "integer"; }
};

template <>
struct JsonCodec<std::uint64_t> {
  static Status read(const json::value& v, std::uint64_t& out, std::string_view where) {
    std::int64_t value = 0;
    WITAN_DO(readInteger(v, value, where));
    if (value < 0) return invalid(concat(where, ": must not be negative"));
    out = static_cast<std::uint64_t>(value);
    return okStatus();
  }
  static void write(std::string& out, std::uint64_t v) { appendInteger(out, v); }
  static std::string typeName() { return "integer"; }
};

template <>
struct JsonCodec<bool> {
  static Status read(const json::value& v, bool& out, std::string_view where) {
    if (!v.is_bool()) return wrongJsonType(where, "true or false", v);
    out = v.get_bool();
    return okStatus();
  }
  static void write(std::string& out, bool v) { out += v ? "true" : "false"; }
  static std::string typeName() { return "bool"; }
};

template <>
struct JsonCodec<std::string> {
  static Status read(const json::value& v, std::string& out, std::string_view where) { return readText(v, out, where); }
  static void write(std::string& out, const std::string& v) { appendJsonString(out, v); }
  static std::string typeName() { return "text"; }
};

template <>
struct JsonCodec<Date> {
  static Status read(const json::value& v, Date& out, std::string_view where);
  static void write(std::string& out, Date v) {
    out += '"';
    appendDate(out, v);
    out += '"';
  }
  static std::string typeName() { return "date"; }
};

template <>
struct JsonCodec<Time> {
  static Status read(const json::value& v, Time& out, std::string_view where);
  static void write(std::string& out, Time v) {
    out += '"';
    appendTime(out, v);
    out += '"';
  }
  static std::string typeName() { return "time"; }
};

template <NamedEnum E>
struct JsonCodec<E> {
  static Status read(const json::value& v, E& out, std::string_view where) {
    if (!v.is_string()) return wrongJsonType(where, typeName(), v);
    if (auto word = parseEnum<E>(v.get_string())) {
      out = *word;
      return okStatus();
    }
    return invalid(concat(where, ": \"", clip(v.get_string()), "\" is not one of ", words()));
  }
  static void write(std::string& out, E v) {
    out += '"';
    out += enumName(v);
    out += '"';
  }
  static std::string words() {
    std::string all;
    for (std::string_view name : enumNames<E>()) all += concat(all.empty() ? "" : ", ", name);
    return all;
  }
  static std::string typeName() { return "enum(" + words() + ")"; }
};

template <class T>
struct JsonCodec<std::optional<T>> {
  static Status read(const json::value& v, std::optional<T>& out, std::string_view where) {
    if (v.is_null()) {
      out.reset();
      return okStatus();
    }
    return readJson(v, out.emplace(), where);
  }
  static void write(std::string& out, const std::optional<T>& v) {
    if (v)
      writeJson(out, *v);
    else
      out += "null";
  }
  static std::string typeName() { return JsonCodec<T>::typeName() + " or null"; }
};

// A member that is left out of its object while it has no value; std::optional is written as null instead. It is never
// required, and null is no value of it.
template <class T>
struct Omittable : std::optional<T> {
  Omittable() = default;
  Omittable(T value) : std::optional<T>(std::move(value)) {}  // NOLINT: implicit by design
};

template <class T>
inline constexpr bool isOmittable = false;
template <class T>
inline constexpr bool isOmittable<Omittable<T>> = true;

template <class T>
struct JsonCodec<Omittable<T>> {
  static Status read(const json::value& v, Omittable<T>& out, std::string_view where) {
    return readJson(v, out.emplace(), where);
  }
  static void write(std::string& out, const Omittable<T>& v) { writeJson(out, *v); }
  static std::string typeName() { return JsonCodec<T>::typeName(); }
};

// JSON of any form, within the limits of the text that it came from.
template <>
struct JsonCodec<json::value> {
  static Status read(const json::value& v, json::value& out, std::string_view) {
    out = v;
    return okStatus();
  }
  static void write(std::string& out, const json::value& v) { appendCanonicalJson(out, v); }
  static std::string typeName() { return "any value"; }
};

template <>
struct JsonCodec<json::object> {
  static Status read(const json::value& v, json::object& out, std::string_view where) {
    if (!v.is_object()) return wrongJsonType(where, "an object", v);
    out = v.get_object();
    return okStatus();
  }
  static void write(std::string& out, const json::object& v) { appendCanonicalJson(out, v); }
  static std::string typeName() { return "object"; }
};

template <class T>
struct JsonCodec<std::vector<T>> {
  static Status read(const json::value& v, std::vector<T>& out, std::string_view where) {
    if (!v.is_array()) return wrongJsonType(where, "a list", v);
    const json::array& list = v.get_array();
    if (list.size() > kListMax) return invalid(concat(where, ": more than ", kListMax, " elements"));
    out.clear();
    for (std::size_t i = 0; i < list.size(); ++i)
      WITAN_DO(readJson(list[i], out.emplace_back(), concat(where, "[", i, "]")));
    return okStatus();
  }
  static void write(std::string& out, const std::vector<T>& v) {
    out += '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out += ',';
      writeJson(out, v[i]);
    }
    out += ']';
  }
  static std::string typeName() { return "list of " + JsonCodec<T>::typeName(); }
};

// An object, its keys in the order of their bytes. For configuration such as {"spam":1,"scam":5}.
template <class T>
struct JsonCodec<std::map<std::string, T>> {
  static Status read(const json::value& v, std::map<std::string, T>& out, std::string_view where) {
    if (!v.is_object()) return wrongJsonType(where, "an object", v);
    if (v.get_object().size() > kListMax) return invalid(concat(where, ": more than ", kListMax, " members"));
    out.clear();
    for (const auto& [key, value] : v.get_object())
      WITAN_DO(readJson(value, out[std::string(key)], concat(where, ".", clip(key))));
    return okStatus();
  }
  static void write(std::string& out, const std::map<std::string, T>& v) {
    char before = '{';
    for (const auto& [key, value] : v) {
      out += before;
      before = ',';
      appendJsonString(out, key);
      out += ':';
      writeJson(out, value);
    }
    out += v.empty() ? "{}" : "}";
  }
  static std::string typeName() { return "map of " + JsonCodec<T>::typeName(); }
};

// A struct that says `static constexpr bool asTuple = true` is written as a JSON array of its members in order.
template <class T>
concept TupleShaped = Reflected<T> && requires {
  requires T::asTuple;
};

template <TupleShaped T>
struct JsonCodec<T> {
  static Status read(const json::value& v, T& out, std::string_view where) {
    if (!v.is_array() || v.get_array().size() != memberCount<T>)
      return wrongJsonType(where, concat("a list of ", memberCount<T>, " elements"), v);
    Status status = okStatus();
    forEachMember<T>([&](auto member, auto index) {
      if (status.ok()) status = readJson(v.get_array()[index], out.*member.pointer, concat(where, ".", member.name));
    });
    return status;
  }
  static void write(std::string& out, const T& v) {
    out += '[';
    forEachMember<T>([&](auto member, auto index) {
      if (index > 0) out += ',';
      writeJson(out, v.*member.pointer);
    });
    out += ']';
  }
  static std::string typeName() {
    std::string all = "(";
    forEachMember<T>([&](auto member, auto index) { all += concat(index > 0 ? ", " : "", member.name); });
    return all + ")";
  }
};

template <class T>
requires(Reflected<T> && !TupleShaped<T>) struct JsonCodec<T> {
  // `extra` is one more member name that is allowed and skipped ("type" of an action).
  static Status read(const json::value& v, T& out, std::string_view where, std::string_view extra = {}) {
    if (!v.is_object()) return wrongJsonType(where, "an object", v);
    const json::object& object = v.get_object();
    for (const auto& item : object)
      if (item.key() != extra && !known(item.key()))
        return invalid(concat(where, ": unknown argument \"", clip(item.key()), "\""), "known: " + typeName());
    Status status = okStatus();
    forEachMember<T>([&](auto member, auto index) {
      if (!status.ok()) return;
      if (const json::value* given = object.if_contains(member.name))
        status = readJson(*given, out.*member.pointer, concat(where, ".", member.name));
      else if (index < requiredMembers<T>() && !isOmittable<typename decltype(member)::Type>)
        status = invalid(concat(where, ": \"", member.name, "\" is missing"));
    });
    return status;
  }
  // `type`, when given, is written as the member "type".
  static void write(std::string& out, const T& v, std::string_view type = {}) {
    [[maybe_unused]] static constexpr auto order = membersByName<T>();  // not used where there are no members
    [[maybe_unused]] static constexpr auto members = T::witanMembers();
    bool first = true;
    auto key = [&](std::string_view name) {
      out += first ? "{\"" : ",\"";
      first = false;
      out += name;
      out += "\":";
    };
    auto writeType = [&] {
      key("type");
      appendJsonString(out, type);
      type = {};
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (([&] {
         constexpr auto member = memberAt<order[I]>(members);
         if (!type.empty() && std::string_view("type") < member.name) writeType();
         if constexpr (isOmittable<typename decltype(member)::Type>)
           if (!(v.*member.pointer)) return;
         key(member.name);
         writeJson(out, v.*member.pointer);
       }()),
       ...);
    }
    (std::make_index_sequence<memberCount<T>>{});
    if (!type.empty()) writeType();
    out += first ? "{}" : "}";
  }
  static std::string typeName() {
    std::string all = "{";
    forEachMember<T>([&](auto member, auto index) { all += concat(index > 0 ? ", " : "", member.name); });
    return all + "}";
  }

 private:
  static bool known(std::string_view name) {
    bool found = false;
    forEachMember<T>([&](auto member, auto) { found = found || member.name == name; });
    return found;
  }
};

}  // namespace witan
