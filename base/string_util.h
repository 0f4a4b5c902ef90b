// Words in a row, as reports and messages write them. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

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

}  // namespace witan
