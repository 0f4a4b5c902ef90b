#include "base/canonical_check.h"

#include "base/json_order.h"
#include "base/utf8.h"

namespace witan {
namespace {

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

bool surelyCanonicalJson(std::string_view text, JsonLimits limits) {
  return text.size() <= limits.bytes && isUtf8(text) && Walk(text, limits.depth).whole();
}

}  // namespace witan
