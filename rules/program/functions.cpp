#include "rules/program/functions.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>

#include "base/utf8.h"

namespace witan::rules {

namespace {

Value noOverload(Machine& m) { return m.fail("no_such_overload", "this is not defined for these arguments"); }

// ---- conversions

std::optional<double> realOf(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  return out;
}

template <class T>
Value wholeFrom(Machine& m, const Value& v) {
  const auto range = [&] { return m.fail("range", concat("\"", clip(display(v)), "\" does not fit")); };
  switch (v.tag) {
    case Tag::integer:
      if (!std::is_signed_v<T> && v.i < 0) return range();
      return Value::of(static_cast<T>(v.i));
    case Tag::uinteger:
      if (std::is_signed_v<T> && v.u > static_cast<std::uint64_t>(INT64_MAX)) return range();
      return Value::of(static_cast<T>(v.u));
    case Tag::real: {
      // The bounds themselves are not exact and count as outside.
      const bool fits = std::is_signed_v<T> ? v.d > -9223372036854775808.0 && v.d < 9223372036854775808.0
                                            : v.d > -1.0 && v.d < 18446744073709551616.0;
      return fits ? Value::of(static_cast<T>(v.d)) : range();
    }
    case Tag::text: {
      T out{};
      std::string_view text = v.str();
      if (std::is_signed_v<T> && text.starts_with('+')) text.remove_prefix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
      return !text.empty() && error == std::errc() && end == text.data() + text.size() ? Value::of(out) : range();
    }
    case Tag::timestamp:
      if constexpr (std::is_signed_v<T>)
        return Value::of(
            static_cast<T>(v.i >= 0 ? v.i / kMicrosPerSecond : -((kMicrosPerSecond - 1 - v.i) / kMicrosPerSecond)));
      [[fallthrough]];
    default: return noOverload(m);
  }
}

Value toInt(Machine& m, const Value* a, std::size_t) { return wholeFrom<std::int64_t>(m, a[0]); }
Value toUint(Machine& m, const Value* a, std::size_t) { return wholeFrom<std::uint64_t>(m, a[0]); }

Value toDouble(Machine& m, const Value* a, std::size_t) {
  switch (a->tag) {
    case Tag::integer: return Value::of(static_cast<double>(a->i));
    case Tag::uinteger: return Value::of(static_cast<double>(a->u));
    case Tag::real: return *a;
    case Tag::text: {
      const auto out = realOf(a->str());
      return out ? Value::of(*out) : m.fail("range", "this text is no number");
    }
    default: return noOverload(m);
  }
}

Value toString(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::text)) return *a;
  if (a->is(Tag::bytes)) return isUtf8(a->str()) ? Value::text(a->str()) : m.fail("range", "these bytes are no UTF-8");
  if (a->tag >= Tag::boolean && a->tag <= Tag::date) return m.arena.copy(display(*a));
  return noOverload(m);
}

Value toBytes(Machine& m, const Value* a, std::size_t) {
  return a->is(Tag::text) || a->is(Tag::bytes) ? Value::text(a->str(), Tag::bytes) : noOverload(m);
}

Value toBool(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::boolean)) return *a;
  if (!a->is(Tag::text)) return noOverload(m);
  for (std::string_view word : {"1", "t", "true", "TRUE", "True"})
    if (a->str() == word) return Value::of(true);
  for (std::string_view word : {"0", "f", "false", "FALSE", "False"})
    if (a->str() == word) return Value::of(false);
  return m.fail("range", "this text is neither true nor false");
}

Value toTimestamp(Machine& m, const Value* a, std::size_t) {
  const auto range = [&] {
    return m.fail("range", concat("\"", clip(display(*a)), "\" is no time of the years 0001 to 9999"));
  };
  if (a->is(Tag::timestamp)) return *a;
  if (a->is(Tag::date)) return Value::of(Time{a->i * kMicrosPerDay});
  if (a->is(Tag::integer)) {
    if (a->i < kFirstTime.micros / kMicrosPerSecond || a->i > kLastTime.micros / kMicrosPerSecond) return range();
    return Value::of(Time{a->i * kMicrosPerSecond});
  }
  if (!a->is(Tag::text)) return noOverload(m);
  auto time = parseTime(a->str());
  if (!time) return range();
  Value out = Value::of(*time);
  // The digits beyond the microseconds.
  if (const std::size_t dot = a->str().find('.'); dot != std::string_view::npos)
    for (std::size_t i = 1; i <= 9; ++i) {
      const char c = dot + i < a->str().size() ? a->str()[dot + i] : 'Z';
      if (c < '0' || c > '9') {
        while (i > 6 && i++ <= 9) out.n *= 10;
        break;
      }
      if (i > 6) out.n = out.n * 10 + static_cast<std::uint32_t>(c - '0');
    }
  return out;
}

Value toDuration(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::duration)) return *a;
  if (a->is(Tag::integer)) {
    std::int64_t out = 0;
    return __builtin_mul_overflow(a->i, std::int64_t{1'000'000'000}, &out)
               ? m.fail("range", "this duration is too long")
               : Value::nanos(out);
  }
  if (!a->is(Tag::text)) return noOverload(m);
  const auto out = parseDuration(a->str());
  return out ? Value::nanos(*out) : m.fail("range", concat("\"", clip(a->str()), "\" is no duration"));
}

Value toDate(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::date)) return *a;
  if (a->is(Tag::timestamp)) return Value::of(dateOf(Time{a->i}));
  if (!a->is(Tag::text)) return noOverload(m);
  auto out = parseDate(a->str());
  return out ? Value::of(*out) : m.fail("range", concat("\"", clip(a->str()), "\" is no date"));
}

Value typeOfValue(Machine&, const Value* a, std::size_t) { return Value::text(tagName(a->tag), Tag::type); }
Value same(Machine&, const Value* a, std::size_t) { return *a; }

// ---- texts

std::size_t lengthAt(std::string_view text, std::size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

std::int64_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

// The byte at which character `n` begins; nothing: the text is shorter.
std::optional<std::size_t> byteOf(std::string_view text, std::int64_t n) {
  if (n < 0) return std::nullopt;
  std::size_t at = 0;
  for (; n > 0 && at < text.size(); --n) at += lengthAt(text, at);
  return n == 0 ? std::optional(std::min(at, text.size())) : std::nullopt;
}

Value size(Machine& m, const Value* a, std::size_t) {
  switch (a->tag) {
    case Tag::text: return m.spend(a->n / 16) ? Value::of(characters(a->str())) : m.tooLong();
    case Tag::bytes:
    case Tag::list:
    case Tag::map: return Value::of(std::int64_t{a->n});
    default: return noOverload(m);
  }
}

bool texts(const Value* a, std::size_t n) {
  return std::all_of(a, a + n, [](const Value& v) { return v.is(Tag::text); });
}

template <class Test>
Value testText(Machine& m, const Value* a, Test test) {
  if (!texts(a, 2)) return noOverload(m);
  return m.spend(a[0].n / 16) ? Value::of(bool{test(a[0].str(), a[1].str())}) : m.tooLong();
}
Value startsWith(Machine& m, const Value* a, std::size_t) {
  return testText(m, a, [](auto text, auto part) { return text.starts_with(part); });
}
Value endsWith(Machine& m, const Value* a, std::size_t) {
  return testText(m, a, [](auto text, auto part) { return text.ends_with(part); });
}
Value containsText(Machine& m, const Value* a, std::size_t) {
  return testText(m, a, [](auto text, auto part) { return text.find(part) != std::string_view::npos; });
}

Value outside(Machine& m) { return m.fail("range", "the index lies outside of the text"); }

Value charAt(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text) || !a[1].is(Tag::integer)) return noOverload(m);
  if (!m.spend(a->n / 16)) return m.tooLong();
  const auto at = byteOf(a->str(), a[1].i);
  if (!at) return outside(m);
  return Value::text(*at == a->n ? std::string_view() : a->str().substr(*at, lengthAt(a->str(), *at)));
}

Value substring(Machine& m, const Value* a, std::size_t n) {
  if (!a->is(Tag::text) || !a[1].is(Tag::integer) || (n > 2 && !a[2].is(Tag::integer))) return noOverload(m);
  if (!m.spend(a->n / 8)) return m.tooLong();
  const auto from = byteOf(a->str(), a[1].i);
  const auto to = n > 2 ? byteOf(a->str(), a[2].i) : std::optional<std::size_t>(a->n);
  if (!from || !to || *from > *to) return outside(m);
  return Value::text(a->str().substr(*from, *to - *from));
}

Value indexIn(Machine& m, const Value* a, std::size_t n, bool last) {
  if (!texts(a, 2) || (n > 2 && !a[2].is(Tag::integer))) return noOverload(m);
  if (!m.spend(a->n / 8)) return m.tooLong();
  const std::string_view text = a->str(), part = a[1].str();
  if (n > 2 && part.empty() && a[2].i >= 0 && a[2].i >= characters(text)) return Value::of(characters(text));
  const auto bound = n > 2 ? byteOf(text, a[2].i) : std::optional<std::size_t>(last ? text.size() : 0);
  if (!bound) return outside(m);
  const std::size_t at = last ? text.rfind(part, *bound) : text.find(part, *bound);
  return Value::of(at == std::string_view::npos ? std::int64_t{-1} : characters(text.substr(0, at)));
}
Value indexOf(Machine& m, const Value* a, std::size_t n) { return indexIn(m, a, n, false); }
Value lastIndexOf(Machine& m, const Value* a, std::size_t n) { return indexIn(m, a, n, true); }

template <class Change>
Value changed(Machine& m, const Value& text, Change change) {
  if (!text.is(Tag::text)) return noOverload(m);
  if (!m.spend(text.n / 8)) return m.tooLong();
  std::string out(text.str());
  for (char& c : out) c = change(c);
  return m.arena.copy(out);
}
Value lowerAscii(Machine& m, const Value* a, std::size_t) {
  return changed(m, *a, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
}
Value upperAscii(Machine& m, const Value* a, std::size_t) {
  return changed(m, *a, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; });
}

// White space as Unicode has it.
std::size_t blankAt(std::string_view text, std::size_t at) {
  static constexpr std::string_view kWide[] = {"\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\xA8",
                                               "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  const char c = text[at];
  if ((c >= 9 && c <= 13) || c == ' ') return 1;
  if ((c & 0x80) == 0) return 0;
  for (std::string_view wide : kWide)
    if (text.substr(at).starts_with(wide)) return wide.size();
  const std::string_view three = text.substr(at, 3);
  const bool space = three.size() == 3 && three.starts_with("\xE2\x80") && static_cast<unsigned char>(three[2]) <= 0x8A;
  return space ? 3 : 0;
}

Value trim(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noOverload(m);
  if (!m.spend(a->n / 8)) return m.tooLong();
  const std::string_view text = a->str();
  std::size_t from = text.size(), to = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = blankAt(text, at), length = blank != 0 ? blank : lengthAt(text, at);
    if (blank == 0) from = std::min(from, at), to = at + length;
    at += length;
  }
  return Value::text(to == 0 ? std::string_view() : text.substr(from, to - from));
}

Value reverse(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noOverload(m);
  if (!m.spend(a->n / 8)) return m.tooLong();
  std::string out;
  for (std::size_t at = 0; at < a->n; at += lengthAt(a->str(), at))
    out.insert(0, a->str().substr(at, lengthAt(a->str(), at)));
  return m.arena.copy(out);
}

Value replace(Machine& m, const Value* a, std::size_t n) {
  if (!texts(a, 3) || (n > 3 && !a[3].is(Tag::integer))) return noOverload(m);
  const std::string_view text = a->str(), what = a[1].str(), with = a[2].str();
  std::int64_t left = n > 3 && a[3].i >= 0 ? a[3].i : INT64_MAX;
  std::string out;
  std::size_t at = 0;
  while (left-- > 0) {
    const std::size_t next = what.empty() ? (at < text.size() ? at : std::string_view::npos) : text.find(what, at);
    if (next == std::string_view::npos) break;
    if (!m.spend(1 + with.size() / 16) || out.size() > Arena::kLimit) return m.tooLong();
    out.append(text.substr(at, next - at)).append(with);
    at = next + what.size();
    if (what.empty()) {
      out.append(text.substr(at, lengthAt(text, at)));
      at += lengthAt(text, at);
    }
  }
  out.append(text.substr(at));
  if (what.empty() && left > 0) out.append(with);
  return m.arena.copy(out);
}

Value split(Machine& m, const Value* a, std::size_t n) {
  if (!texts(a, 2) || (n > 2 && !a[2].is(Tag::integer))) return noOverload(m);
  std::string_view text = a->str();
  const std::string_view by = a[1].str();
  const std::int64_t most = n > 2 && a[2].i >= 0 ? a[2].i : INT64_MAX;
  std::vector<Value> parts;
  if (most == 0) return m.arena.listOf(parts);
  while (static_cast<std::int64_t>(parts.size()) + 1 < most) {
    if (!m.spend(1 + by.size())) return m.tooLong();
    const std::size_t at = by.empty() ? (text.empty() ? std::string_view::npos : lengthAt(text, 0)) : text.find(by);
    if (at == std::string_view::npos || (by.empty() && at == text.size())) break;
    parts.push_back(Value::text(text.substr(0, at)));
    text.remove_prefix(at + by.size());
  }
  parts.push_back(Value::text(text));
  return m.arena.listOf(parts);
}

Value join(Machine& m, const Value* a, std::size_t n) {
  if (!a->is(Tag::list) || (n > 1 && !a[1].is(Tag::text))) return noOverload(m);
  std::string out;
  for (std::uint32_t i = 0; i < a->n; ++i) {
    if (!a->items[i].is(Tag::text)) return noOverload(m);
    if (i > 0 && n > 1) out += a[1].str();
    out += a->items[i].str();
    if (!m.spend(1 + out.size() / 1024) || out.size() > Arena::kLimit) return m.tooLong();
  }
  return m.arena.copy(out);
}

Value quote(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noOverload(m);
  if (!m.spend(a->n / 8)) return m.tooLong();
  static constexpr std::string_view kFrom = "\a\b\f\n\r\t\v\\\"", kTo = "abfnrtv\\\"";
  std::string out = "\"";
  for (char c : a->str()) {
    const std::size_t at = kFrom.find(c);
    if (at != std::string_view::npos) out += '\\';
    out += at != std::string_view::npos ? kTo[at] : c;
  }
  return m.arena.copy(out + "\"");
}

// ---- times

struct Parts {
  std::int64_t year = 0, month = 0, day = 0, yearDay = 0, weekDay = 0, second = 0;  // of the day
};

// Offsets: UTC, +01:00, -09:30, 02:00.
std::optional<std::int64_t> offsetOf(std::string_view zone) {
  if (zone == "UTC" || zone.empty()) return 0;
  const bool minus = zone[0] == '-';
  if (minus || zone[0] == '+') zone.remove_prefix(1);
  int hours = 0, minutes = 0;
  const bool form = zone.size() == 5 && zone[2] == ':' &&
                    std::from_chars(zone.data(), zone.data() + 2, hours).ptr == zone.data() + 2 &&
                    std::from_chars(zone.data() + 3, zone.data() + 5, minutes).ptr == zone.data() + 5;
  if (!form || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (minus ? -1 : 1) * (hours * 3600 + minutes * 60);
}

Parts partsOf(std::int64_t micros) {
  Parts p;
  const Date day = dateOf(Time{micros});
  p.second = (micros - day.days * kMicrosPerDay) / kMicrosPerSecond;
  // 719,468: the days from 0000-03-01 to 1970-01-01. All years of ours are after it.
  const std::int64_t z = day.days + 719'468, era = (z >= 0 ? z : z - 146'096) / 146'097, ofEra = z - era * 146'097;
  const std::int64_t y = (ofEra - ofEra / 1460 + ofEra / 36'524 - ofEra / 146'096) / 365;
  const std::int64_t ofYear = ofEra - (365 * y + y / 4 - y / 100), month = (5 * ofYear + 2) / 153;
  p.day = ofYear - (153 * month + 2) / 5;
  p.month = month < 10 ? month + 2 : month - 10;
  p.year = y + era * 400 + (p.month < 2 ? 1 : 0);
  const bool leap = (p.year % 4 == 0 && p.year % 100 != 0) || p.year % 400 == 0;
  p.yearDay = p.month < 2 ? ofYear - 306 : ofYear + 59 + (leap ? 1 : 0);
  p.weekDay = ((day.days + 4) % 7 + 7) % 7;
  return p;
}

template <class Get>
Value ofTime(Machine& m, const Value* a, std::size_t n, Get get) {
  if (a->is(Tag::date) && n == 1) return Value::of(std::int64_t{get(partsOf(a->i * kMicrosPerDay))});
  if (!a->is(Tag::timestamp) || (n > 1 && !a[1].is(Tag::text))) return noOverload(m);
  const auto offset = n > 1 ? offsetOf(a[1].str()) : std::optional<std::int64_t>(0);
  if (!offset) return m.fail("range", concat("\"", clip(a[1].str()), "\" is no offset such as +01:00, nor UTC"));
  return Value::of(std::int64_t{get(partsOf(a->i + *offset * kMicrosPerSecond))});
}
Value getFullYear(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.year; });
}
Value getMonth(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.month; });
}
Value getDate(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.day + 1; });
}
Value getDayOfMonth(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.day; });
}
Value getDayOfWeek(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.weekDay; });
}
Value getDayOfYear(Machine& m, const Value* a, std::size_t n) {
  return ofTime(m, a, n, [](Parts p) { return p.yearDay; });
}

Value clockPart(Machine& m, const Value* a, std::size_t n, std::int64_t nanos, std::int64_t seconds,
                std::int64_t cycle) {
  if (a->is(Tag::duration) && n == 1) return Value::of(a->i / nanos);
  return ofTime(m, a, n, [&](Parts p) { return p.second / seconds % cycle; });
}
Value getHours(Machine& m, const Value* a, std::size_t n) { return clockPart(m, a, n, 3'600'000'000'000, 3600, 24); }
Value getMinutes(Machine& m, const Value* a, std::size_t n) { return clockPart(m, a, n, 60'000'000'000, 60, 60); }
Value getSeconds(Machine& m, const Value* a, std::size_t n) { return clockPart(m, a, n, 1'000'000'000, 1, 60); }
Value getMilliseconds(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::duration)) return Value::of(a->i / 1'000'000 % 1000);
  if (!a->is(Tag::timestamp)) return noOverload(m);
  return Value::of(((a->i % kMicrosPerSecond) + kMicrosPerSecond) % kMicrosPerSecond / 1000);
}

// ---- numbers, optionals

Value extreme(Machine& m, const Value* a, std::size_t n, int wanted) {
  if (n == 1 && a->is(Tag::list)) {
    if (!m.spend(a->n)) return m.tooLong();
    n = a->n;
    a = a->items;
    if (n == 0) return m.fail("range", "of an empty list there is neither a least nor a greatest");
  }
  const Value* best = a;
  for (std::size_t i = 0; i < n; ++i) {
    const int order = compare(a[i], *best);
    if (order == 2) return noOverload(m);
    if (order == wanted) best = a + i;
  }
  return *best;
}
Value greatest(Machine& m, const Value* a, std::size_t n) { return extreme(m, a, n, 1); }
Value least(Machine& m, const Value* a, std::size_t n) { return extreme(m, a, n, -1); }

// The items, each once, in the order of their first.
Value distinct(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::list)) return noOverload(m);
  std::vector<Value> items;
  for (const Value& item : a->elements()) {
    if (item.is(Tag::list) || item.is(Tag::map)) return noOverload(m);  // to compare those has no bound
    if (!m.spend(1 + items.size())) return m.tooLong();
    if (std::none_of(items.begin(), items.end(), [&](const Value& known) { return equals(known, item); }))
      items.push_back(item);
  }
  return m.arena.listOf(items);
}

// As of the lists extension; of texts by their bytes.
Value sorted(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::list)) return noOverload(m);
  std::vector<Value> items(a->elements().begin(), a->elements().end());
  for (const Value& item : items) {
    if (compare(item, items.front()) == 2) return noOverload(m);
    if (!m.spend(std::bit_width(items.size()) * (1 + Machine::textSteps(item)))) return m.tooLong();
  }
  std::ranges::stable_sort(items, [](const Value& x, const Value& y) { return compare(x, y) < 0; });
  return m.arena.listOf(items);
}

Value flatten(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::list)) return noOverload(m);
  std::vector<Value> items;
  for (const Value& list : a->elements()) {
    if (!list.is(Tag::list)) return noOverload(m);
    if (!m.spend(1 + list.n)) return m.tooLong();
    items.insert(items.end(), list.elements().begin(), list.elements().end());
  }
  return m.arena.listOf(items);
}

Value sum(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::list)) return noOverload(m);
  if (!m.spend(a->n)) return m.tooLong();
  std::int64_t whole = 0;
  double parts = 0;
  for (const Value& item : a->elements()) {
    if (item.tag != a->items[0].tag || (!item.is(Tag::integer) && !item.is(Tag::real))) return noOverload(m);
    if (item.is(Tag::real))
      parts += item.d;
    else if (__builtin_add_overflow(whole, item.i, &whole))
      return m.fail("overflow", "the result exceeds 64 bits");
  }
  return a->n > 0 && a->items[0].is(Tag::real) ? Value::of(parts) : Value::of(whole);
}

Value absolute(Machine& m, const Value* a, std::size_t) {
  if (a->is(Tag::real)) return Value::of(std::fabs(a->d));
  if (a->is(Tag::uinteger)) return *a;
  if (!a->is(Tag::integer)) return noOverload(m);
  return a->i == INT64_MIN ? m.fail("overflow", "the result exceeds 64 bits") : Value::of(a->i < 0 ? -a->i : a->i);
}

template <class F>
Value real(Machine& m, const Value* a, F f) {
  return a->is(Tag::real) ? Value::of(f(a->d)) : noOverload(m);
}
Value ceiling(Machine& m, const Value* a, std::size_t) {
  return real(m, a, [](double d) { return std::ceil(d); });
}
Value floorOf(Machine& m, const Value* a, std::size_t) {
  return real(m, a, [](double d) { return std::floor(d); });
}
Value roundOf(Machine& m, const Value* a, std::size_t) {
  return real(m, a, [](double d) { return std::round(d); });
}
Value truncOf(Machine& m, const Value* a, std::size_t) {
  return real(m, a, [](double d) { return std::trunc(d); });
}

Value optionalOf(Machine& m, const Value* a, std::size_t) { return m.arena.listOf({*a}, Tag::optional); }
Value optionalNone(Machine&, const Value*, std::size_t) { return Value::none(); }
Value optionalNonZero(Machine& m, const Value* a, std::size_t n) {
  const bool holds = a->tag >= Tag::text || a->tag == Tag::list;
  const bool zero =
      a->is(Tag::null) || (a->is(Tag::boolean) && !a->b) || (a->isNumber() && equals(*a, Value::of(std::int64_t{0}))) ||
      (holds && a->n == 0 && (a->is(Tag::text) || a->is(Tag::bytes) || a->is(Tag::list) || a->is(Tag::map)));
  return zero ? Value::none() : optionalOf(m, a, n);
}
Value hasValue(Machine& m, const Value* a, std::size_t) {
  return a->is(Tag::optional) ? Value::of(a->n > 0) : noOverload(m);
}
Value valueOf(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::optional)) return noOverload(m);
  return a->n > 0 ? a->items[0] : m.fail("no_such_key", "the optional is empty");
}
Value orOptional(Machine& m, const Value* a, std::size_t) {
  return a->is(Tag::optional) && a[1].is(Tag::optional) ? a[a->n > 0 ? 0 : 1] : noOverload(m);
}

// ---- the table

constexpr const char* kPartOfTime = ".(timestamp): int; (timestamp, string): int; (date): int";
constexpr const char* kPartOfBoth = ".(timestamp): int; (timestamp, string): int; (duration): int";
constexpr const char* kReal = "(double): double";

constexpr FunctionRow kFunctions[] = {
    {"size", "(string): int; (bytes): int; (list(A)): int; (map(A, B)): int", size},
    {"size", ".(string): int; (bytes): int; (list(A)): int; (map(A, B)): int", size},
    {"int", "(int): int; (uint): int; (double): int; (string): int; (timestamp): int", toInt},
    {"uint", "(uint): uint; (int): uint; (double): uint; (string): uint", toUint},
    {"double", "(double): double; (int): double; (uint): double; (string): double", toDouble},
    {"string",
     "(string): string; (bool): string; (int): string; (uint): string; (double): string; (bytes): string; (timestamp): "
     "string; "
     "(duration): string; (date): string",
     toString},
    {"bytes", "(bytes): bytes; (string): bytes", toBytes},
    {"bool", "(bool): bool; (string): bool", toBool},
    {"timestamp", "(timestamp): timestamp; (string): timestamp; (int): timestamp; (date): timestamp", toTimestamp},
    {"duration", "(duration): duration; (string): duration; (int): duration", toDuration},
    {"date", "(date): date; (timestamp): date; (string): date", toDate},
    {"type", "(A): type", typeOfValue},
    {"dyn", "(A): dyn", same},
    {"startsWith", ".(string, string): bool", startsWith},
    {"endsWith", ".(string, string): bool", endsWith},
    {"contains", ".(string, string): bool", containsText},
    {"charAt", ".(string, int): string", charAt},
    {"substring", ".(string, int): string; (string, int, int): string", substring},
    {"indexOf", ".(string, string): int; (string, string, int): int", indexOf},
    {"lastIndexOf", ".(string, string): int; (string, string, int): int", lastIndexOf},
    {"lowerAscii", ".(string): string", lowerAscii},
    {"upperAscii", ".(string): string", upperAscii},
    {"trim", ".(string): string", trim},
    {"reverse", ".(string): string", reverse},
    {"replace", ".(string, string, string): string; (string, string, string, int): string", replace},
    {"split", ".(string, string): list(string); (string, string, int): list(string)", split},
    {"join", ".(list(string)): string; (list(string), string): string", join},
    {"strings.quote", "(string): string", quote},
    {"getFullYear", kPartOfTime, getFullYear},
    {"getMonth", kPartOfTime, getMonth},
    {"getDate", kPartOfTime, getDate},
    {"getDayOfMonth", kPartOfTime, getDayOfMonth},
    {"getDayOfWeek", kPartOfTime, getDayOfWeek},
    {"getDayOfYear", kPartOfTime, getDayOfYear},
    {"getHours", kPartOfBoth, getHours},
    {"getMinutes", kPartOfBoth, getMinutes},
    {"getSeconds", kPartOfBoth, getSeconds},
    {"getMilliseconds", kPartOfBoth, getMilliseconds},
    {"math.greatest", "+(A): A; (list(A)): A", greatest},
    {"math.least", "+(A): A; (list(A)): A", least},
    {"distinct", ".(list(A)): list(A)", distinct},
    {"sort", ".(list(A)): list(A)", sorted},
    {"flatten", ".(list(list(A))): list(A)", flatten},
    {"math.sum", "(list(int)): int; (list(double)): double", sum},
    {"math.abs", "(int): int; (uint): uint; (double): double", absolute},
    {"math.ceil", kReal, ceiling},
    {"math.floor", kReal, floorOf},
    {"math.round", kReal, roundOf},
    {"math.trunc", kReal, truncOf},
    {"optional.of", "(A): optional(A)", optionalOf},
    {"optional.none", "(): optional(dyn)", optionalNone},
    {"optional.ofNonZeroValue", "(A): optional(A)", optionalNonZero},
    {"hasValue", ".(optional(A)): bool", hasValue},
    {"value", ".(optional(A)): A", valueOf},
    {"or", ".(optional(A), optional(A)): optional(A)", orOptional},
};

constexpr std::pair<const char*, const char*> kOperators[] = {
    {"_+_",
     "(int, int): int; (uint, uint): uint; (double, double): double; (string, string): string; (bytes, bytes): bytes; "
     "(list(A), list(A)): list(A); (timestamp, duration): timestamp; (duration, timestamp): timestamp; "
     "(duration, duration): duration; (date, int): date"},
    {"_-_",
     "(int, int): int; (uint, uint): uint; (double, double): double; (timestamp, timestamp): duration; "
     "(timestamp, duration): timestamp; (duration, duration): duration; (date, date): int; (date, int): date"},
    {"_*_", "(int, int): int; (uint, uint): uint; (double, double): double"},
    {"_/_", "(int, int): int; (uint, uint): uint; (double, double): double"},
    {"_%_", "(int, int): int; (uint, uint): uint"},
    {"-_", "(int): int; (double): double"},
    {"!_", "(bool): bool"},
    {"_&&_", "(bool, bool): bool"},
    {"_||_", "(bool, bool): bool"},
    {"_?_:_", "(bool, A, A): A"},
    {"_==_", "(A, A): bool"},
    {"_!=_", "(A, A): bool"},
    {"_<_",
     "(int, int): bool; (uint, uint): bool; (double, double): bool; (int, uint): bool; (uint, int): bool; (int, "
     "double): bool; "
     "(double, int): bool; (uint, double): bool; (double, uint): bool; (bool, bool): bool; (string, string): bool; "
     "(bytes, bytes): bool; (timestamp, timestamp): bool; (duration, duration): bool; (date, date): bool"},
    {"_in_", "(A, list(A)): bool; (A, map(A, B)): bool"},
    {"_[_]", "(list(A), int): A; (map(A, B), A): B; (optional(dyn), dyn): dyn"},
};

TypePtr typeFrom(std::string_view text) {
  Parsed<TypePtr> type = parseType(text);
  WITAN_CHECK(type.index() == 0, std::string(text));
  return std::get<0>(std::move(type));
}

std::vector<Overload> overloadsFrom(std::string_view text) {
  std::vector<Overload> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t close = one.rfind("): ");
    Overload made;
    made.result = typeFrom(one.substr(close + 3));
    one = one.substr(0, close);
    one.remove_prefix(one.find('(') + 1);
    // Commas outside of brackets.
    std::size_t from = 0;
    int open = 0;
    for (std::size_t i = 0; i <= one.size() && !one.empty(); ++i) {
      if (i < one.size() && one[i] == '(') ++open;
      if (i < one.size() && one[i] == ')') --open;
      if (i == one.size() || (one[i] == ',' && open == 0)) {
        made.params.push_back(typeFrom(one.substr(from, i - from)));
        from = i + 1;
      }
    }
    all.push_back(std::move(made));
  }
  return all;
}

const std::map<std::pair<std::string_view, bool>, Function>& allFunctions() {
  static const std::map<std::pair<std::string_view, bool>, Function> all = [] {
    std::map<std::pair<std::string_view, bool>, Function> out;
    for (const std::span<const FunctionRow> rows : {std::span<const FunctionRow>(kFunctions), nameFunctions()})
      for (const FunctionRow& row : rows) {
        const bool isMember = row.signatures[0] == '.';
        out[{row.name, isMember}] = {row.name, isMember, overloadsFrom(row.signatures), row.call,
                                     row.signatures[0] == '+'};
      }
    return out;
  }();
  return all;
}

}  // namespace

const Function* findFunction(std::string_view name, bool member) {
  const auto at = allFunctions().find({name, member});
  return at == allFunctions().end() ? nullptr : &at->second;
}

const Function* functionOf(FunctionCall call) {
  for (const auto& [name, function] : allFunctions())
    if (function.call == call) return &function;
  return nullptr;
}

const std::vector<Overload>* findOperator(std::string_view name) {
  static const std::map<std::string_view, std::vector<Overload>> all = [] {
    std::map<std::string_view, std::vector<Overload>> out;
    for (const auto& [known, signatures] : kOperators) out[known] = overloadsFrom(signatures);
    for (const char* order : {"_<=_", "_>_", "_>=_"}) out[order] = out["_<_"];
    return out;
  }();
  const auto at = all.find(name);
  return at == all.end() ? nullptr : &at->second;
}

}  // namespace witan::rules
