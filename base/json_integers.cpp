#include "base/json_integers.h"

#include <charconv>

#include "base/json.h"

namespace witan {

namespace {

constexpr std::size_t kShown = 40;  // digits of a number that is refused

template <class T>
bool reads(std::string_view token) {
  T value{};
  const auto [end, failure] = std::from_chars(token.data(), token.data() + token.size(), value);
  return failure == std::errc{} && end == token.data() + token.size();
}

bool losesDigits(std::string_view token) {
  if (token.find_first_of(".eE") != std::string_view::npos) return false;
  if (reads<std::int64_t>(token) || reads<std::uint64_t>(token)) return false;
  double nearest = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), nearest).ec != std::errc{}) return true;
  std::string again;
  appendJsonNumber(again, nearest);
  return again != token;
}

}  // namespace

Status checkIntegersKept(std::string_view text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '-' || (c >= '0' && c <= '9'))) {
      const std::string_view token = text.substr(at, text.find_first_not_of("+-.eE0123456789", at) - at);
      if (losesDigits(token))
        return invalid("byte " + std::to_string(at) + ": the number " + std::string(token.substr(0, kShown)) +
                           (token.size() > kShown ? "..." : "") + " exceeds 64 bits and would lose digits",
                       "write it as a text, in quotes");
      at += token.size() - 1;
    }
  }
  return okStatus();
}

}  // namespace witan
