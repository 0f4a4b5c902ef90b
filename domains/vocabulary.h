// Vocabulary that the domains' rules and samplers share: verdicts over many rows, what texts state, random choices.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/seams.h"
#include "base/utf8.h"
#include "kernel/record/verdict.h"

namespace witan::domains {

// The verdict on the first row that does not pass.
template <class Rows, class Check>
kernel::Verdict firstFailing(Rows&& rows, Check&& check) {
  for (auto row : rows)
    if (kernel::Verdict verdict = check(row); !verdict.passed()) return verdict;
  return kernel::Verdict::pass();
}

template <class Rows, class Test>
bool noneOf(Rows&& rows, Test&& test) {
  for (auto row : rows)
    if (test(row)) return false;
  return true;
}

// All of F exist in the row, or none.
template <class... F, class Row>
bool shareKey(const Row& row) {
  const int held = (static_cast<int>(row.template has<F>()) + ...);
  return held == 0 || held == static_cast<int>(sizeof...(F));
}

// White space as Unicode has it (and as people paste it): it states nothing.
constexpr bool isBlank(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200B) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x2060 ||
         c == 0x3000 || c == 0xFEFF;
}

// Characters from the first to the last that is not white space. Requires valid UTF-8, which every codec ensures. O(n).
std::int64_t trimmedLength(std::string_view text);

// Says something: a text of white space alone is an empty one.
inline bool isStated(std::string_view text) { return trimmedLength(text) > 0; }

// The text without white space around it, and with a single space for each white space within.
std::string spacedOnce(std::string_view text);

// A name that rules compare byte by byte: stated, at most `most` bytes, no control characters, and no white space but
// single spaces within. So no two of them look alike for their blanks.
bool isCanonicalName(std::string_view name, std::size_t most = 256);

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& from) {
  return from[random.below(N)];
}

}  // namespace witan::domains
