#include "base/json_codec.h"

#include <cmath>

namespace witan {

const char* jsonKindName(json::kind kind) {
  switch (kind) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a bool";
    case json::kind::int64:
    case json::kind::uint64: return "an integer";
    case json::kind::double_: return "a number with a fraction";
    case json::kind::string: return "text";
    case json::kind::array: return "a list";
    case json::kind::object: return "an object";
  }
  return "?";
}

Error wrongJsonType(std::string_view where, std::string_view wanted, const json::value& got) {
  return invalid(concat(where, ": expected ", wanted, ", found ", jsonKindName(got.kind())));
}

Status readInteger(const json::value& from, std::int64_t& into, std::string_view where) {
  if (from.is_int64()) {
    into = from.get_int64();
    return okStatus();
  }
  if (from.is_uint64()) return invalid(concat(where, ": larger than 2^63-1"));
  // 1e3 and 45000.0 are integers in JSON's eyes.
  if (!from.is_double() || std::trunc(from.get_double()) != from.get_double())
    return wrongJsonType(where, "an integer", from);
  const double whole = from.get_double();
  if (whole >= 0x1p63) return invalid(concat(where, ": larger than 2^63-1"));
  if (whole < -0x1p63) return invalid(concat(where, ": smaller than -2^63"));
  if (std::abs(whole) > 0x1p53)
    return invalid(concat(where, ": beyond 2^53 an integer is written with all its digits"));
  into = static_cast<std::int64_t>(whole);
  return okStatus();
}

Status readText(const json::value& from, std::string& into, std::string_view where) {
  if (!from.is_string()) return wrongJsonType(where, "text", from);
  const json::string& text = from.get_string();
  if (text.size() > kTextMax) return invalid(concat(where, ": longer than ", kTextMax, " bytes"));
  into.assign(text.data(), text.size());
  return okStatus();
}

Status JsonCodec<Date>::read(const json::value& v, Date& out, std::string_view where) {
  if (!v.is_string()) return wrongJsonType(where, "a date YYYY-MM-DD", v);
  auto parsed = parseDate(v.get_string());
  if (!parsed) return invalid(concat(where, ": ", parsed.error().message), parsed.error().hint);
  out = *parsed;
  return okStatus();
}

Status JsonCodec<Time>::read(const json::value& v, Time& out, std::string_view where) {
  if (!v.is_string()) return wrongJsonType(where, "a time like 2026-03-23T08:00:00Z", v);
  auto parsed = parseTime(v.get_string());
  if (!parsed) return invalid(concat(where, ": ", parsed.error().message), parsed.error().hint);
  out = *parsed;
  return okStatus();
}

}  // namespace witan
