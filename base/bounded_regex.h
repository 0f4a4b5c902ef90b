// BoundedRegex: the regular expressions of JSON Schema (ECMA-262, on code points), matched in time that is linear in
// the text: untrusted patterns and texts cannot hang anybody. Lookaround, back references and Unicode properties are
// refused, not ignored.
//
// A value; pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace witan {

class BoundedRegex {
 public:
  static constexpr std::size_t kMaxPatternBytes = 2'048;
  static constexpr std::size_t kMaxStates = 4'096;

  // Errors: invalid, what is not understood in the pattern and at which byte.
  static Result<BoundedRegex> compile(std::string_view pattern);

  // Whether some part of the text matches. `steps` is what it may still cost and is reduced by what it did; at 0 the
  // answer is none. Requires: UTF-8. O(states * text).
  std::optional<bool> search(std::string_view text, std::uint64_t& steps) const;

 private:
  friend class RegexParser;
  using Range = std::pair<char32_t, char32_t>;
  struct State {
    enum class Kind { set, split, begin, end, boundary, noBoundary, match } kind = Kind::match;
    std::uint32_t next = 0, other = 0;  // of split: both
    std::uint32_t set = 0;
  };
  struct Set {
    std::vector<Range> ranges;
    bool negated = false;
    bool has(char32_t c) const;
  };

  std::vector<State> states_;
  std::vector<Set> sets_;
  std::uint32_t start_ = 0;
};

// The code points of a text. Requires: UTF-8.
std::u32string codePointsOf(std::string_view utf8);

}  // namespace witan
