// Interner: a number for every different text, by which the states of a model are compared. Values stay where they are.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace witan::sim {

class Interner {
 public:
  std::uint32_t operator()(std::string_view text) {
    if (const auto at = numbers_.find(text); at != numbers_.end()) return at->second;
    texts_.emplace_back(text);
    return numbers_.emplace(texts_.back(), static_cast<std::uint32_t>(texts_.size() - 1)).first->second;
  }
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;  // never walked
};

}  // namespace witan::sim
