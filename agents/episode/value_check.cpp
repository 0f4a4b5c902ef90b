#include "agents/episode/value_check.h"

#include <cmath>
#include <string>

#include "base/utf8.h"

namespace witan::agents::episode {

namespace {

Error tooMuch(std::string_view what, std::size_t limit, std::string_view of) {
  return invalid(std::string(what) + ": more than " + std::to_string(limit) + " " + std::string(of));
}

class Walk {
 public:
  Walk(std::string_view what, const ValueLimits& limits) : what_(what), limits_(limits) {}

  Status visit(const json::value& value, std::size_t depth) {
    if (value.is_string()) return text(value.get_string());
    if (value.is_double() && !std::isfinite(value.get_double()))
      return invalid(std::string(what_) + ": a number that is not finite");
    if (!value.is_array() && !value.is_object()) return okStatus();
    if (depth >= limits_.depth) return tooMuch(what_, limits_.depth, "containers inside each other");
    const std::size_t size = value.is_array() ? value.get_array().size() : value.get_object().size();
    elements_ += size;
    if (elements_ >= limits_.elements) return tooMuch(what_, limits_.elements - 1, "elements");
    if (value.is_array()) {
      for (const json::value& one : value.get_array()) WITAN_DO(visit(one, depth + 1));
      return okStatus();
    }
    for (const auto& member : value.get_object()) {
      WITAN_DO(text(member.key()));
      WITAN_DO(visit(member.value(), depth + 1));
    }
    return okStatus();
  }

 private:
  Status text(std::string_view text) {
    bytes_ += text.size();
    if (bytes_ > limits_.bytes) return tooMuch(what_, limits_.bytes, "bytes");
    return isUtf8(text) ? okStatus() : Status(invalid(std::string(what_) + ": text that is not UTF-8"));
  }

  const std::string_view what_;
  const ValueLimits& limits_;
  std::size_t elements_ = 0, bytes_ = 0;
};

}  // namespace

Status checkValue(const json::value& value, std::string_view what, ValueLimits limits) {
  WITAN_DO(Walk(what, limits).visit(value, 0));
  if (canonicalJson(value).size() > limits.bytes) return tooMuch(what, limits.bytes, "bytes");
  return okStatus();
}

Status checkText(std::string_view text, std::string_view what, std::size_t bytes) {
  if (text.size() > bytes) return tooMuch(what, bytes, "bytes");
  if (!isUtf8(text)) return invalid(std::string(what) + ": text that is not UTF-8");
  std::string written;
  appendJsonString(written, text);
  return written.size() > bytes ? Status(tooMuch(what, bytes, "bytes")) : okStatus();
}

}  // namespace witan::agents::episode
