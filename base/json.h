// JSON from outside, strictly; and canonical JSON (RFC 8785, JCS) for everything that is hashed or compared.
//
// Boost.JSON is the value type. Pure functions, any thread; nothing must outlive anything.
#pragma once

#include <boost/json.hpp>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

namespace json = boost::json;

struct JsonLimits {
  std::size_t bytes = 1 << 20;
  std::size_t depth = 32;  // containers inside each other; a scalar has depth 0
};

// What Witan itself wrote.
inline constexpr JsonLimits kOwnJson{.bytes = 64 << 20, .depth = 64};

// One JSON text (RFC 8259) with nothing after it. Refuses duplicate keys in an object (Boost alone keeps the last),
// invalid UTF-8, lone surrogates, numbers that overflow or underflow a double, and texts beyond the limits; the message
// gives the byte offset and the cause. An integer literal that fits int64 or uint64 stays exact; every other number is
// the nearest double. O(bytes).
Result<json::value> parseJson(std::string_view text, JsonLimits limits = {});

// RFC 8785: keys sorted by UTF-16 code units, ES6 numbers, minimal escapes, no white space. One deliberate departure:
// an int64 or uint64 is printed exactly, where JCS would round integers beyond 2^53 to the nearest double; ids and
// amounts are never rounded. Requires: strings are UTF-8 and doubles finite, which parseJson guarantees. Recursion
// depth is the depth of the value.
std::string canonicalJson(const json::value& value);
void appendCanonicalJson(std::string& out, const json::value& value);

// For values that are kept and given back, before canonicalJson: a double beyond 2^53 that fits int64 or uint64 becomes
// that integer. RFC 8785 pads the shortest digits with zeros: 8.611594247095819e16 (which is ...8192) is written as
// 86115942470958190, and that text reads back as another integer. Hashed arguments stay with the RFC. O(value).
void makeIntegersExact(json::value& value);

// A JCS string literal with its quotes (RFC 8785 section 3.2.2.2). Requires: `utf8` is valid UTF-8.
void appendJsonString(std::string& out, std::string_view utf8);

// ECMAScript Number::toString (RFC 8785 section 3.2.2.3). Requires: finite.
void appendJsonNumber(std::string& out, double number);

template <class Integer>
void appendInteger(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// The order of keys, RFC 8785 section 3.2.3: by UTF-16 code units. Requires: both are UTF-8. O(shared prefix).
bool jsonKeyLess(std::string_view a, std::string_view b);

// Whether a JSON text is canonical already, found out without building its value: nearly always it is, when a record is
// written, arrives or is read back. True: parseJson(text, limits) reads it, and canonicalJson gives `text` back. False:
// it may be either; numbers with a fraction, an exponent or more than 15 digits, and strings with an escape are not
// judged. O(bytes), allocates nothing.
bool surelyCanonicalJson(std::string_view text, JsonLimits limits = {});

// For texts of people that are kept as they are: parseJson makes the nearest double of an integer that exceeds 64 bits.
// Errors: invalid, with the first integer that would be given back with other digits, and its byte offset. Requires:
// parseJson took the text. O(bytes).
Status checkIntegersKept(std::string_view text);

}  // namespace witan
