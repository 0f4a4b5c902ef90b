// Which of the words that there are somebody may have meant. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace witan {

// Letters to put in, take out or change (Levenshtein). Time O(|a| * |b|): for short words.
std::size_t editDistance(std::string_view a, std::string_view b);

// The `most` nearest of `known` by that distance, the nearest first; among equals in their order.
std::vector<std::string_view> nearest(std::string_view given, const std::vector<std::string>& known, std::size_t most);

}  // namespace witan
