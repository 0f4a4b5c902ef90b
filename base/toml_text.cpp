#include "base/toml_text.h"

#include <algorithm>

namespace witan {

namespace {

constexpr std::size_t kMaxDots = 256;

// Behind the comment, or the text in quotes, that begins at `at`; behind the character, if none does. A text of one
// line ends with its line: what is not closed is for the parser to say.
std::size_t behind(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '#') return std::min(text.find('\n', at), text.size());
  if (c != '"' && c != '\'') return at + 1;
  const std::string_view three = text.substr(at, 3);
  const bool many = three == "\"\"\"" || three == "'''";
  for (std::size_t i = at + (many ? 3 : 1); i < text.size(); ++i) {
    if (c == '"' && text[i] == '\\') {
      ++i;
    } else if (many ? text.substr(i, 3) == three : text[i] == c) {
      // Of five quotes the first two belong to the text.
      std::size_t end = i + (many ? 3 : 1);
      for (int more = 0; many && more < 2 && end < text.size() && text[end] == c; ++more) ++end;
      return end;
    } else if (!many && text[i] == '\n') {
      return i;
    }
  }
  return text.size();
}

}  // namespace

Status checkTomlKeys(std::string_view text, const std::string& name) {
  std::size_t line = 1, dots = 0;
  for (std::size_t at = 0, next = 0; at < text.size(); at = next) {
    next = behind(text, at);
    const char c = text[at];
    line += static_cast<std::size_t>(std::ranges::count(text.substr(at, next - at), '\n'));
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > kMaxDots)
      return invalid(concat(name, ": line ", line, ": a key of more than ", kMaxDots, " parts"));
  }
  return okStatus();
}

}  // namespace witan
