#include "lab/ontology/cpp_names.h"

#include <algorithm>

#include "base/concat.h"

namespace witan::ontology {

namespace {

// Keywords, alternative tokens and macros (<cmath>, <cstdio>, <cerrno>, <sys/sysmacros.h>) of C++20, each between
// blanks.
constexpr std::string_view kReserved =
    " DOMAIN EOF HUGE_VAL INFINITY NAN NULL OVERFLOW PLOSS SING TLOSS UNDERFLOW alignas alignof and and_eq asm "
    "assert auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum errno explicit export extern false float for friend goto if inline int long major "
    "makedev minor mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return short signed sizeof static static_assert static_cast stderr stdin "
    "stdout struct switch template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq ";

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool isCppName(std::string_view name) {
  if (name.empty() || name.size() > 100 || !isLetter(name[0]) || name.find("__") != std::string_view::npos)
    return false;
  if (!std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c) || c == '_'; })) return false;
  return kReserved.find(concat(" ", name, " ")) == std::string_view::npos;
}

std::string pascalCase(std::string_view name) {
  // All capitals: words are told apart by what stands between them.
  const bool shouting = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }) &&
                        std::ranges::count_if(name, isUpper) > 1;
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (!isLetter(c) && !isDigit(c)) {
      begins = true;
      continue;
    }
    if (out.empty() && isDigit(c)) out += 'X';
    out += begins ? upper(c) : shouting ? lower(c) : c;
    begins = false;
  }
  if (out.size() > 80) out.resize(80);
  return out.empty() ? "X" : out;
}

std::string camelCase(std::string_view name) {
  std::string out = pascalCase(name);
  for (std::size_t i = 0; i < out.size() && isUpper(out[i]); ++i) {
    if (i > 0 && i + 1 < out.size() && !isUpper(out[i + 1])) break;  // "CVEId" -> "cveId"
    out[i] = lower(out[i]);
  }
  return out;
}

std::string CppNames::take(const std::string& name, std::string_view suffix) {
  if (isCppName(name) && taken_.insert(name).second) return name;
  const std::string base = concat(name, suffix);
  if (isCppName(base) && taken_.insert(base).second) return base;
  for (std::size_t n = 2;; ++n)
    if (const std::string one = concat(base, n); taken_.insert(one).second) return one;
}

}  // namespace witan::ontology
