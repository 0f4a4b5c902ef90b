// Writing canonical JSON (RFC 8785), and recognising it.
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cmath>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"

namespace witan {
namespace {

constexpr std::array<bool, 256> escapedBytes() {
  std::array<bool, 256> escaped{};
  for (std::size_t c = 0; c < 0x20; ++c) escaped[c] = true;
  escaped['"'] = true;
  escaped['\\'] = true;
  return escaped;
}
constexpr auto kEscaped = escapedBytes();

void appendEscape(std::string& out, unsigned char c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '\\';
  switch (c) {
    case '\b': out += 'b'; return;
    case '\t': out += 't'; return;
    case '\n': out += 'n'; return;
    case '\f': out += 'f'; return;
    case '\r': out += 'r'; return;
    case '"':
    case '\\': out += static_cast<char>(c); return;
    default: break;
  }
  out += "u00";
  out += kDigits[c >> 4];
  out += kDigits[c & 15];
}

std::string_view keyOf(const json::key_value_pair& member) { return {member.key().data(), member.key().size()}; }

void appendObject(std::string& out, const json::object& object) {
  boost::container::small_vector<const json::key_value_pair*, 16> members;
  for (const auto& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const auto* a, const auto* b) { return jsonKeyLess(keyOf(*a), keyOf(*b)); });
  char before = '{';
  for (const auto* member : members) {
    out += before;
    before = ',';
    appendJsonString(out, keyOf(*member));
    out += ':';
    appendCanonicalJson(out, member->value());
  }
  out += members.empty() ? "{}" : "}";
}

void appendArray(std::string& out, const json::array& array) {
  char before = '[';
  for (const auto& element : array) {
    out += before;
    before = ',';
    appendCanonicalJson(out, element);
  }
  out += array.empty() ? "[]" : "]";
}

// One pass over the text, which is UTF-8. Every step says false where it cannot be sure.
class Walk {
 public:
  Walk(std::string_view text, std::size_t depth) : at_(text.data()), end_(at_ + text.size()), depth_(depth) {}

  bool whole() { return value() && at_ == end_; }

 private:
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool value() {
    if (at_ == end_) return false;
    switch (*at_) {
      case '{': return within(&Walk::object);
      case '[': return within(&Walk::array);
      case '"': {
        std::string_view text;
        return string(text);
      }
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return integer();
    }
  }

  bool within(bool (Walk::*container)()) {
    if (depth_ == 0) return false;
    --depth_;
    ++at_;
    const bool sure = (this->*container)();
    ++depth_;
    return sure;
  }

  bool object() {
    if (take('}')) return true;
    std::string_view before, key;
    for (bool first = true;; first = false) {
      if (!string(key) || !take(':')) return false;
      if (!first && !jsonKeyLess(before, key)) return false;
      before = key;
      if (!value()) return false;
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }

  bool array() {
    if (take(']')) return true;
    for (;;) {
      if (!value()) return false;
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }

  bool string(std::string_view& text) {
    if (!take('"')) return false;
    const char* const begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\' || static_cast<unsigned char>(*at_) < 0x20) return false;
    text = {begin, static_cast<std::size_t>(at_ - begin)};
    return take('"');
  }

  bool word(std::string_view expected) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  // Few enough digits for every reading of the number to be exact; no leading zero, and not -0.
  bool integer() {
    constexpr std::ptrdiff_t kDigits = 15;
    const bool negative = take('-');
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    const std::ptrdiff_t digits = at_ - begin;
    if (digits == 0 || digits > kDigits || (*begin == '0' && (digits > 1 || negative))) return false;
    return at_ == end_ || (*at_ != '.' && *at_ != 'e' && *at_ != 'E');
  }

  const char* at_;
  const char* const end_;
  std::size_t depth_;
};

}  // namespace

// Order by UTF-16 code units (section 3.2.3) without converting. UTF-8 bytes order by code point, which is the same but
// for one case: code points above U+FFFF (first byte F0 or more) are surrogates in UTF-16 and come before
// U+E000..U+FFFF (first byte EE or EF).
bool jsonKeyLess(std::string_view a, std::string_view b) {
  const auto [inA, inB] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (inA == a.end() || inB == b.end()) return inA == a.end() && inB != b.end();
  const auto byteA = static_cast<unsigned char>(*inA);
  const auto byteB = static_cast<unsigned char>(*inB);
  if (byteA >= 0xee && byteB >= 0xee && (byteA >= 0xf0) != (byteB >= 0xf0)) return byteA >= 0xf0;
  return byteA < byteB;
}

void appendJsonString(std::string& out, std::string_view utf8) {
  out += '"';
  const char* plain = utf8.data();
  const char* const end = plain + utf8.size();
  for (const char* at = plain; at != end; ++at) {
    if (!kEscaped[static_cast<unsigned char>(*at)]) continue;
    out.append(plain, at);
    appendEscape(out, static_cast<unsigned char>(*at));
    plain = at + 1;
  }
  out.append(plain, end);
  out += '"';
}

// ECMA-262 Number::toString: the value is 0.digits * 10^point. std::to_chars finds the shortest digits that read back
// to the same double and, among those, the nearest, which is what the note there recommends and RFC 8785 requires.
void appendJsonNumber(std::string& out, double number) {
  WITAN_CHECK(std::isfinite(number), "JSON numbers are finite");
  if (number == 0) {
    out += '0';  // -0 too
    return;
  }
  if (number < 0) out += '-';
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, std::fabs(number), std::chars_format::scientific).ptr;
  const char* const mark = std::find(static_cast<const char*>(text), end, 'e');
  std::string_view mantissa(text, static_cast<std::size_t>(mark - text));
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, exponent);
  char digitText[24];
  char* digitsEnd = std::remove_copy(mantissa.begin(), mantissa.end(), digitText, '.');
  const std::string_view digits(digitText, static_cast<std::size_t>(digitsEnd - digitText));
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;
  if (count <= point && point <= 21) {
    out.append(digits).append(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out.append(digits.substr(0, static_cast<std::size_t>(point))) += '.';
    out.append(digits.substr(static_cast<std::size_t>(point)));
  } else if (-6 < point && point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else {
    out += digits[0];
    if (count > 1) (out += '.').append(digits.substr(1));
    out += exponent < 0 ? "e-" : "e+";
    appendInteger(out, std::abs(exponent));
  }
}

void appendCanonicalJson(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: out += "null"; return;
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; return;
    case json::kind::int64: appendInteger(out, value.get_int64()); return;
    case json::kind::uint64: appendInteger(out, value.get_uint64()); return;
    case json::kind::double_: appendJsonNumber(out, value.get_double()); return;
    case json::kind::string: appendJsonString(out, {value.get_string().data(), value.get_string().size()}); return;
    case json::kind::array: appendArray(out, value.get_array()); return;
    case json::kind::object: appendObject(out, value.get_object()); return;
  }
}

void makeIntegersExact(json::value& value) {
  if (value.is_object()) {
    for (auto& member : value.get_object()) makeIntegersExact(member.value());
  } else if (value.is_array()) {
    for (json::value& element : value.get_array()) makeIntegersExact(element);
  } else if (value.is_double()) {
    const double number = value.get_double();
    if (std::fabs(number) <= 0x1p53) return;  // the shortest digits of these are all of their digits
    if (-0x1p63 <= number && number < 0x1p63)
      value = static_cast<std::int64_t>(number);
    else if (number > 0 && number < 0x1p64)
      value = static_cast<std::uint64_t>(number);
  }
}

std::string canonicalJson(const json::value& value) {
  std::string out;
  appendCanonicalJson(out, value);
  return out;
}

bool surelyCanonicalJson(std::string_view text, JsonLimits limits) {
  return text.size() <= limits.bytes && isUtf8(text) && Walk(text, limits.depth).whole();
}

}  // namespace witan
