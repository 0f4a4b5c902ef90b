// Words as reports and messages write them, and the known words that somebody may have meant. Pure functions, any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace witan {

// "a, b, c"; `none` where there is nothing.
template <class Words>
std::string joined(const Words& words, std::string_view none = "", std::string_view between = ", ") {
  std::string all;
  bool first = true;
  for (const std::string_view word : words) {
    if (!first) all += between;
    all += word;
    first = false;
  }
  return first ? std::string(none) : all;
}

// With spaces behind it, up to `width` bytes: a column of a table.
inline std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// Letters to put in, take out or change (Levenshtein). Time O(|a| * |b|): for short words.
std::size_t editDistance(std::string_view a, std::string_view b);

// The `most` nearest of `known` by that distance, the nearest first; among equals in their order.
std::vector<std::string_view> nearest(std::string_view given, const std::vector<std::string>& known, std::size_t most);

}  // namespace witan
