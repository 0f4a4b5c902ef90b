#include "rules/cel/value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/json.h"

namespace witan::rules {

char* Arena::bytes(std::size_t count) {
  count = (count + 15) & ~std::size_t{15};
  if (count > left_ || at_ == nullptr) {
    if (used_ + count > kLimit) return nullptr;
    const std::size_t block = std::max<std::size_t>(count, 16 * 1024);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    at_ = blocks_.back().get();
    left_ = block;
  }
  used_ += count;
  left_ -= count;
  return std::exchange(at_, at_ + count);
}

Value Arena::fail(const char* code, std::string message, std::uint32_t at, std::uint16_t source) {
  // One evaluation may absorb many; the last ones share a message.
  if (failures_.size() < 1000)
    failures_.push_back(std::make_unique<Failure>(Failure{code, std::move(message), at, source}));
  Value v;
  v.tag = Tag::error;
  v.failure = failures_.back().get();
  return v;
}

Value Arena::copy(std::string_view text, Tag tag) {
  char* to = bytes(text.size());
  if (to == nullptr) return fail("limit", "the evaluation needs more than 16 MiB");
  std::memcpy(to, text.data(), text.size());
  return Value::text({to, text.size()}, tag);
}

Value Arena::listOf(const std::vector<Value>& items, Tag tag) {
  Value* to = values(items.size());
  if (to == nullptr) return fail("limit", "the evaluation needs more than 16 MiB");
  std::copy(items.begin(), items.end(), to);
  Value v = Value::list({to, items.size()});
  v.tag = tag;
  if (tag == Tag::map) v.n /= 2;
  return v;
}

void Arena::reset() {
  if (blocks_.size() > 1) blocks_.resize(1);
  at_ = blocks_.empty() ? nullptr : blocks_[0].get();
  // The first block may be larger than usual; that much of it serves.
  left_ = blocks_.empty() ? 0 : 16 * 1024;
  used_ = 0;
  failures_.clear();
}

const char* tagName(Tag tag) {
  static constexpr std::array<const char*, 18> kNames{"absent",
                                                      "error",
                                                      "null_type",
                                                      "bool",
                                                      "int",
                                                      "uint",
                                                      "double",
                                                      "string",
                                                      "bytes",
                                                      "google.protobuf.Timestamp",
                                                      "google.protobuf.Duration",
                                                      "date",
                                                      "list",
                                                      "map",
                                                      "type",
                                                      "optional_type",
                                                      "row",
                                                      "table"};
  return kNames[static_cast<std::size_t>(tag)];
}

namespace {

int orderOf(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compareReal(double a, const Value& b) {
  if (std::isnan(a)) return 2;
  if (b.tag == Tag::real) return std::isnan(b.d) ? 2 : orderOf(a, b.d);
  // As the language has it: within the range of the integer by the nearest double, outside of it by the range.
  const bool isSigned = b.tag == Tag::integer;
  if (a > (isSigned ? 9223372036854775808.0 : 18446744073709551616.0)) return 1;
  if (a < (isSigned ? -9223372036854775808.0 : 0.0)) return -1;
  return orderOf(a, isSigned ? static_cast<double>(b.i) : static_cast<double>(b.u));
}

int compareNumbers(const Value& a, const Value& b) {
  if (a.tag == b.tag && a.tag == Tag::integer) return orderOf(a.i, b.i);
  if (a.tag == b.tag && a.tag == Tag::uinteger) return orderOf(a.u, b.u);
  if (a.tag == Tag::real) return compareReal(a.d, b);
  if (b.tag == Tag::real) {
    const int turned = compareReal(b.d, a);
    return turned == 2 ? 2 : -turned;
  }
  if (a.tag == Tag::integer) return a.i < 0 ? -1 : orderOf(static_cast<std::uint64_t>(a.i), b.u);
  return b.i < 0 ? 1 : orderOf(a.u, static_cast<std::uint64_t>(b.i));
}

}  // namespace

int compare(const Value& a, const Value& b) {
  if (a.isNumber() && b.isNumber()) return compareNumbers(a, b);
  if (a.tag != b.tag) return 2;
  switch (a.tag) {
    case Tag::boolean: return orderOf(a.b, b.b);
    case Tag::text:
    case Tag::bytes: return orderOf(a.str().compare(b.str()), 0);
    case Tag::duration:
    case Tag::date: return orderOf(a.i, b.i);
    case Tag::timestamp: return a.i != b.i ? orderOf(a.i, b.i) : orderOf(a.n, b.n);
    default: return 2;
  }
}

const Value* find(const Value& map, const Value& key) {
  for (std::size_t i = 0; i < map.n; ++i)
    if (equals(map.key(i), key)) return &map.value(i);
  return nullptr;
}

bool equals(const Value& a, const Value& b) {
  if (a.isNumber() && b.isNumber()) return compareNumbers(a, b) == 0;
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case Tag::null: return true;
    case Tag::type: return a.str() == b.str();
    case Tag::row: return a.n == b.n && a.i == b.i;
    case Tag::optional:
    case Tag::list:
      return a.n == b.n && std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), equals);
    case Tag::map: {
      if (a.n != b.n) return false;
      for (std::size_t i = 0; i < a.n; ++i) {
        const Value* other = find(b, a.key(i));
        if (other == nullptr || !equals(a.value(i), *other)) return false;
      }
      return true;
    }
    default: return compare(a, b) == 0;
  }
}

namespace {

std::size_t itemsOf(const Value& v) {
  if (v.tag == Tag::map) return 2 * std::size_t{v.n};
  return v.tag == Tag::list || v.tag == Tag::optional ? v.n : 0;
}

bool hasText(const Value& v) { return v.tag == Tag::text || v.tag == Tag::bytes || v.tag == Tag::type; }

}  // namespace

std::size_t deepBytes(const Value& value) {
  if (hasText(value)) return (value.n + 15) & ~std::size_t{15};
  std::size_t bytes = itemsOf(value) * sizeof(Value);
  for (std::size_t i = 0; i < itemsOf(value); ++i) bytes += deepBytes(value.items[i]);
  return bytes;
}

Value deepCopy(const Value& value, char*& at) {
  Value out = value;
  if (hasText(value)) {
    std::memcpy(at, value.chars, value.n);
    out.chars = at;
    at += (value.n + 15) & ~std::size_t{15};
  } else if (const std::size_t n = itemsOf(value); n > 0) {
    Value* items = reinterpret_cast<Value*>(at);
    at += n * sizeof(Value);
    for (std::size_t i = 0; i < n; ++i) items[i] = deepCopy(value.items[i], at);
    out.items = items;
  }
  return out;
}

std::string formatDuration(std::int64_t nanos) {
  const std::uint64_t all = nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  std::string out = nanos < 0 ? "-" : "";
  out += std::to_string(all / 1'000'000'000);
  if (const std::uint64_t part = all % 1'000'000'000; part != 0) {
    std::string digits = std::to_string(part + 1'000'000'000).substr(1);
    while (digits.back() == '0') digits.pop_back();
    out += "." + digits;
  }
  return out + "s";
}

std::string formatTimestamp(std::int64_t micros, std::uint32_t n) {
  std::string out = formatTime(Time{micros});
  if (n == 0) return out;
  out.pop_back();
  const std::size_t dot = out.find('.');
  if (dot == std::string::npos) out += ".";
  const std::size_t digits = dot == std::string::npos ? 0 : out.size() - dot - 1;
  out.append(6 - digits, '0');
  return out + std::to_string(n + 1000).substr(1) + "Z";
}

std::string display(const Value& v) {
  switch (v.tag) {
    case Tag::boolean: return v.b ? "true" : "false";
    case Tag::integer: return std::to_string(v.i);
    case Tag::uinteger: return std::to_string(v.u);
    case Tag::real: {
      if (std::isnan(v.d)) return "NaN";
      if (std::isinf(v.d)) return v.d < 0 ? "-Infinity" : "Infinity";
      char digits[32];
      return std::string(digits, std::to_chars(digits, digits + sizeof digits, v.d).ptr);
    }
    case Tag::text:
    case Tag::bytes:
    case Tag::type: return std::string(v.str());
    case Tag::timestamp: return formatTimestamp(v.i, v.n);
    case Tag::duration: return formatDuration(v.i);
    case Tag::date: return formatDate(Date{static_cast<std::int32_t>(v.i)});
    case Tag::list: {
      std::string out = "[";
      for (const Value& item : v.elements()) out += (out.size() > 1 ? ", " : "") + display(item);
      return out + "]";
    }
    default: return tagName(v.tag);
  }
}

}  // namespace witan::rules
