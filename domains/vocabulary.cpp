#include "domains/vocabulary.h"

namespace witan::domains {

namespace {

// The character at `at`, which moves behind it.
char32_t nextCharacter(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  char32_t c = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t k = 1; k < length && at + k < text.size(); ++k)
    c = c << 6 | (static_cast<unsigned char>(text[at + k]) & 0x3Fu);
  at += length;
  return c;
}

}  // namespace

std::int64_t trimmedLength(std::string_view text) {
  std::int64_t first = -1, last = -1, position = 0;
  for (std::size_t at = 0; at < text.size(); ++position) {
    if (isBlank(nextCharacter(text, at))) continue;
    if (first < 0) first = position;
    last = position;
  }
  return first < 0 ? 0 : last - first + 1;
}

std::string spacedOnce(std::string_view text) {
  std::string out;
  bool due = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (isBlank(nextCharacter(text, at))) {
      due = !out.empty();
      continue;
    }
    if (due) out += ' ';
    due = false;
    out += text.substr(from, at - from);
  }
  return out;
}

bool isCanonicalName(std::string_view name, std::size_t most) {
  if (name.empty() || name.size() > most) return false;
  bool afterBlank = true;  // at the beginning, too
  for (std::size_t at = 0; at < name.size();) {
    const char32_t c = nextCharacter(name, at);
    if (c < 0x20 || c == 0x7F) return false;
    const bool blank = isBlank(c);
    if (blank && (c != ' ' || afterBlank)) return false;
    afterBlank = blank;
  }
  return !afterBlank;
}

}  // namespace witan::domains
