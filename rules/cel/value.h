// Value: what an expression of the Common Expression Language (CEL) gives; Arena: the memory of one evaluation.
//
// A value is 16 bytes and owns nothing: texts, lists and maps lie in the arena of the evaluation, in the constants of
// the program or in a state, and must outlive it. An error is a value too, so that `false && error` is false.
// Not thread-safe; for evaluators and those who call them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace witan::rules {

enum class Tag : std::uint8_t {
  absent,  // an empty cell of a state
  error,
  null,
  boolean,
  integer,
  uinteger,
  real,
  text,
  bytes,
  timestamp,  // microseconds in i, the nanoseconds below them in n
  duration,   // nanoseconds
  date,       // days since 1970-01-01
  list,
  map,       // n keys and n values, one after the other, in the order of writing
  type,      // its name as text
  optional,  // n = 0: none; else one item
  row,       // row i of table n of a state
  table,     // table n of a state
};

struct Failure;

struct Value {
  Tag tag = Tag::null;
  std::uint32_t n = 0;
  union {
    std::int64_t i = 0;
    std::uint64_t u;
    double d;
    bool b;
    const char* chars;
    const Value* items;
    const Failure* failure;
  };

  static Value of(bool value) {
    return make(Tag::boolean, [&](Value& v) { v.b = value; });
  }
  static Value of(std::int64_t value) {
    return make(Tag::integer, [&](Value& v) { v.i = value; });
  }
  static Value of(std::uint64_t value) {
    return make(Tag::uinteger, [&](Value& v) { v.u = value; });
  }
  static Value of(double value) {
    return make(Tag::real, [&](Value& v) { v.d = value; });
  }
  static Value of(Date value) {
    return make(Tag::date, [&](Value& v) { v.i = value.days; });
  }
  static Value of(Time value) {
    return make(Tag::timestamp, [&](Value& v) { v.i = value.micros; });
  }
  static Value nanos(std::int64_t value) {
    return make(Tag::duration, [&](Value& v) { v.i = value; });
  }
  // Borrows the text.
  static Value text(std::string_view text, Tag tag = Tag::text) {
    Value v = make(tag, [&](Value& made) { made.chars = text.data(); });
    v.n = static_cast<std::uint32_t>(text.size());
    return v;
  }
  static Value list(std::span<const Value> items) {
    Value v = make(Tag::list, [&](Value& made) { made.items = items.data(); });
    v.n = static_cast<std::uint32_t>(items.size());
    return v;
  }
  // Keys and values in turn.
  static Value map(std::span<const Value> items) {
    Value v = list(items);
    v.tag = Tag::map;
    v.n /= 2;
    return v;
  }
  static Value absent() {
    return make(Tag::absent, [](Value&) {});
  }
  static Value none() {
    return make(Tag::optional, [](Value&) {});
  }

  bool is(Tag other) const { return tag == other; }
  bool failed() const { return tag == Tag::error; }
  bool isTrue() const { return tag == Tag::boolean && b; }
  bool isFalse() const { return tag == Tag::boolean && !b; }
  bool isNumber() const { return tag == Tag::integer || tag == Tag::uinteger || tag == Tag::real; }
  // Requires: text, bytes or type.
  std::string_view str() const { return {chars, n}; }
  // Requires: a list, or an optional.
  std::span<const Value> elements() const { return {items, n}; }
  const Value& key(std::size_t at) const { return items[2 * at]; }
  const Value& value(std::size_t at) const { return items[2 * at + 1]; }

 private:
  template <class Set>
  static Value make(Tag tag, Set set) {
    Value v;
    v.tag = tag;
    set(v);
    return v;
  }
};

// Why an evaluation failed. `at`: where in the text of the program (its byte).
struct Failure {
  const char* code = "";  // no_such_overload, no_such_key, divide_by_zero, overflow, range, limit, unknown
  std::string message;
  std::uint32_t at = 0;
  std::uint16_t source = 0;  // which text of the program
};

// Bytes of values of one evaluation; all go at once. Beyond its limit it gives nothing (`full`).
class Arena {
 public:
  static constexpr std::size_t kLimit = 16 << 20;
  // Null beyond the limit.
  char* bytes(std::size_t count);
  Value* values(std::size_t count) { return reinterpret_cast<Value*>(bytes(count * sizeof(Value))); }
  Value fail(const char* code, std::string message, std::uint32_t at = 0, std::uint16_t source = 0);
  Value copy(std::string_view text, Tag tag = Tag::text);
  Value listOf(const std::vector<Value>& items, Tag tag = Tag::list);
  void reset();

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<Failure>> failures_;
  std::size_t left_ = 0, used_ = 0;
  char* at_ = nullptr;
};

const char* tagName(Tag tag);  // as type() says it: int, string, google.protobuf.Timestamp

// CEL equality: numbers by value whatever their type, lists and maps by content; values of other types differ.
bool equals(const Value& a, const Value& b);
// -1, 0, 1; 2 if the two have no order.
int compare(const Value& a, const Value& b);
// The value of a key of a map, null if there is none. O(entries).
const Value* find(const Value& map, const Value& key);
// Bytes that the value holds by reference, with what lies below.
std::size_t deepBytes(const Value& value);
// A copy whose texts and items lie at `at`, which has deepBytes(value) bytes and is aligned for values.
Value deepCopy(const Value& value, char*& at);

// As string() gives it, and for messages.
std::string display(const Value& value);
std::string formatDuration(std::int64_t nanos);                     // 1.5s
std::string formatTimestamp(std::int64_t micros, std::uint32_t n);  // with nanoseconds

}  // namespace witan::rules
