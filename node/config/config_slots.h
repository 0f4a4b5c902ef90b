// Keys of a TOML table, each with the member of a struct that it sets. Errors name file and line.
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace witan::node {

inline constexpr std::size_t kMaxListItems = 64;

template <class T>
using ConfigSlot = std::variant<std::string T::*, std::int64_t T::*, std::vector<std::string> T::*, bool T::*>;

inline Error atLine(const std::string& file, const toml::source_region& where, const std::string& what,
                    std::string hint = {}) {
  return invalid(concat(file, ":", where.begin.line, ": ", what), std::move(hint));
}

inline std::string lineOf(const std::string& file, const toml::node& node) {
  return concat(file, ":", node.source().begin.line);
}

// `name`: of the key, as messages call it. `places`: where the value, or each item of a list, stands.
template <class T>
Status setSlot(T& into, const ConfigSlot<T>& slot, const toml::node& node, const std::string& name,
               const std::string& file, std::vector<std::string>& places) {
  places.assign(1, lineOf(file, node));
  if (auto text = std::get_if<std::string T::*>(&slot)) {
    if (!node.is_string()) return atLine(file, node.source(), name + " must be text");
    into.** text = node.value<std::string>().value();
  } else if (auto number = std::get_if<std::int64_t T::*>(&slot)) {
    if (!node.is_integer()) return atLine(file, node.source(), name + " must be a whole number");
    into.** number = node.value<std::int64_t>().value();
  } else if (auto yes = std::get_if<bool T::*>(&slot)) {
    if (!node.is_boolean()) return atLine(file, node.source(), name + " must be true or false");
    into.** yes = node.value<bool>().value();
  } else {
    const toml::array* list = node.as_array();
    if (list == nullptr) return atLine(file, node.source(), name + " must be a list of texts");
    if (list->size() > kMaxListItems)
      return atLine(file, node.source(), concat(name, " has more than ", kMaxListItems, " items"));
    std::vector<std::string> items;
    for (const toml::node& item : *list) {
      if (!item.is_string()) return atLine(file, item.source(), name + " must be a list of texts");
      if (items.empty()) places.clear();
      places.push_back(lineOf(file, item));
      items.push_back(item.value<std::string>().value());
    }
    into.*std::get<std::vector<std::string> T::*>(slot) = std::move(items);
  }
  return okStatus();
}

}  // namespace witan::node
