// Whether a JSON value has the form that a JSON Schema describes: the keywords that base/json_schema.h writes, and no
// others. For tests.
#pragma once

#include <string>

#include "base/json.h"
#include "base/time.h"

namespace witan::test {

class SchemaCheck {
 public:
  // `document` holds the components that schemas refer to. `closed`: members that no schema names are refused
  // everywhere.
  SchemaCheck(const json::value& document, bool closed) : document_(document), closed_(closed) {}

  // Empty: it fits. Else the first place that does not, and why.
  std::string problem(const json::value& value, const json::object& schema, const std::string& at = "$") const {
    if (const json::value* reference = schema.if_contains("$ref"))
      return problem(value, resolved(*reference).as_object(), at);
    if (const json::value* any = schema.if_contains("anyOf")) {
      std::string all;
      for (const json::value& one : any->as_array()) {
        const std::string why = problem(value, one.as_object(), at);
        if (why.empty()) return "";
        all += (all.empty() ? "" : " | ") + why;
      }
      return all;
    }
    if (const json::value* constant = schema.if_contains("const"); constant != nullptr && *constant != value)
      return at + ": not the constant";
    if (const json::value* words = schema.if_contains("enum"))
      if (std::ranges::find(words->as_array(), value) == words->as_array().end())
        return at + ": " + json::serialize(value) + " is none of " + json::serialize(*words);
    const json::value* type = schema.if_contains("type");
    return type == nullptr ? "" : ofType(value, schema, std::string(type->as_string()), at);
  }

  const json::value& resolved(const json::value& reference) const {
    return document_.at_pointer(std::string_view(reference.as_string()).substr(1));
  }

 private:
  std::string ofType(const json::value& value, const json::object& schema, const std::string& type,
                     const std::string& at) const {
    if (type == "object") return value.is_object() ? ofObject(value.get_object(), schema, at) : at + ": no object";
    if (type == "array") return value.is_array() ? ofArray(value.get_array(), schema, at) : at + ": no array";
    if (type == "string") return value.is_string() ? ofText(value.get_string(), schema, at) : at + ": no string";
    if (type == "boolean") return value.is_bool() ? "" : at + ": no boolean";
    if (type == "null") return value.is_null() ? "" : at + ": not null";
    if (type == "number") return value.is_number() ? "" : at + ": no number";
    if (type != "integer") return at + ": unknown type " + type;
    if (!value.is_int64() && !value.is_uint64()) return at + ": no integer";
    return schema.contains("minimum") && value.is_int64() && value.get_int64() < 0 ? at + ": below the minimum" : "";
  }

  std::string ofObject(const json::object& value, const json::object& schema, const std::string& at) const {
    if (const json::value* required = schema.if_contains("required"))
      for (const json::value& name : required->as_array())
        if (!value.contains(name.as_string())) return at + ": lacks " + std::string(name.as_string());
    const json::value* properties = schema.if_contains("properties");
    const json::value* others = schema.if_contains("additionalProperties");
    for (const auto& [name, member] : value) {
      const std::string place = at + "." + std::string(name);
      const json::value* known = properties == nullptr ? nullptr : properties->as_object().if_contains(name);
      if (known == nullptr && others != nullptr && others->is_object()) known = others;
      if (known == nullptr && (others == nullptr ? closed_ : !others->as_bool())) return place + ": unknown member";
      if (known == nullptr) continue;
      if (std::string why = problem(member, known->as_object(), place); !why.empty()) return why;
    }
    return "";
  }

  std::string ofArray(const json::array& value, const json::object& schema, const std::string& at) const {
    const json::value* items = schema.if_contains("items");
    for (std::size_t i = 0; items != nullptr && i < value.size(); ++i)
      if (std::string why = problem(value[i], items->as_object(), at + "[" + std::to_string(i) + "]"); !why.empty())
        return why;
    return "";
  }

  static std::string ofText(std::string_view value, const json::object& schema, const std::string& at) {
    if (const json::value* least = schema.if_contains("minLength"))
      if (value.size() < least->to_number<std::size_t>()) return at + ": too short";
    const json::value* format = schema.if_contains("format");
    if (format != nullptr && format->as_string() == "date-time" && !parseTime(value).ok()) return at + ": no time";
    if (format != nullptr && format->as_string() == "date" && !parseDate(value)) return at + ": no date";
    return "";
  }

  const json::value document_;
  const bool closed_;
};

}  // namespace witan::test
