#include "base/toml_text.h"

namespace witan {

namespace {
constexpr std::size_t kMaxDots = 256;
}

Status checkTomlKeys(std::string_view text, const std::string& name) {
  std::size_t line = 1, dots = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > kMaxDots)
      return invalid(concat(name, ":", line, ": a key of more than ", kMaxDots, " parts"));
  }
  return okStatus();
}

}  // namespace witan
