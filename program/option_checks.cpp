#include "program/option_checks.h"

#include <charconv>

#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"

namespace witan::node {

namespace {

std::string rangeWords(std::uint64_t least, std::uint64_t most) {
  if (most == std::numeric_limits<std::uint64_t>::max()) return least == 0 ? "" : concat(" from ", least, " on");
  return concat(" from ", least, " to ", most);
}

}  // namespace

OptionCheck wholeNumber(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    const bool plain = text.size() == 1 || !text.starts_with('0');
    if (plain && failure == std::errc{} && stop == end && number >= least && number <= most) return std::string();
    return inQuotes(text) + " is no whole number" + rangeWords(least, most);
  };
}

OptionCheck notEmpty() {
  return [](const std::string& text) { return std::string(text.empty() ? "it is empty" : ""); };
}

OptionCheck idText(const std::string& what) {
  return readBy([what](const std::string& text) { return validateId(what, text); });
}

OptionCheck firstDigits(const std::string& what, const std::string& where) {
  return [what, where](const std::string& text) {
    const bool digits = text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (digits && !text.empty() && text.size() <= 64) return std::string();
    return inQuotes(text) + " is no " + what + " (64 hexadecimal digits, or the first of them; see: " + where + ")";
  };
}

OptionCheck jsonText(bool object) {
  return readBy([object](const std::string& text) -> Status {
    const auto value = parseJson(text);
    if (!value.ok()) return value.error();
    return !object || value->is_object() ? okStatus() : Status(invalid("expected a JSON object"));
  });
}

}  // namespace witan::node
