#include "base/string_util.h"

#include <algorithm>
#include <utility>

namespace witan {

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> nearest(std::string_view given, const std::vector<std::string>& known, std::size_t most) {
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  ranked.reserve(known.size());
  for (const std::string& word : known) ranked.emplace_back(editDistance(given, word), word);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min(most, ranked.size()));
  std::vector<std::string_view> words;
  for (const auto& [distance, word] : ranked) words.push_back(word);
  return words;
}

}  // namespace witan
