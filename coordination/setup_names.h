// Names of a setup on the way to their numbers: collected first, then numbered in canonical order. For the reader.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "coordination/setup.h"

namespace witan::kernel::joint {

struct CanonicalLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return jsonKeyLess(a, b); }
};

class Names {
 public:
  void add(std::string_view name) {
    if (!numbers_.contains(name)) numbers_.emplace(name, 0);
  }
  // From here on numbers are known, and nothing is added.
  std::vector<std::string> seal() {
    std::vector<std::string> all;
    for (auto& [name, number] : numbers_) {
      number = static_cast<std::uint32_t>(all.size());
      all.push_back(name);
    }
    return all;
  }
  std::uint32_t find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? kUnknown : found->second;
  }
  std::uint32_t at(std::string_view name) const {
    const std::uint32_t number = find(name);
    WITAN_CHECK(number != kUnknown, "the first pass collects every name");
    return number;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::uint32_t, CanonicalLess> numbers_;
};

// Numbers of values, by their canonical text.
class ValueNames {
 public:
  Value number(std::string text) {
    const auto [place, fresh] = numbers_.emplace(std::move(text), static_cast<Value>(texts_.size()));
    if (fresh) texts_.push_back(place->first);
    return place->second;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, Value> numbers_;
  std::vector<std::string> texts_{"absent"};
};

}  // namespace witan::kernel::joint
