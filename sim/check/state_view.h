// Reading a state as `DomainModule::writeState` prints it: columns are objects by key, logs objects by number. What is
// missing reads as empty. Views into the state; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"

namespace witan::sim {

inline const json::object& columnOf(const json::object& state, std::string_view field) {
  static const json::object none;
  const json::value* column = state.if_contains(field);
  return column != nullptr && column->is_object() ? column->get_object() : none;
}

// Null: the cell is empty.
inline const json::value* cellOf(const json::object& state, std::string_view field, std::string_view key) {
  const json::value* cell = columnOf(state, field).if_contains(key);
  return cell != nullptr && !cell->is_null() ? cell : nullptr;
}

inline std::string textIn(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
inline std::string textOf(const json::object& state, std::string_view field, std::string_view key) {
  return textIn(cellOf(state, field, key));
}
inline std::string memberOf(const json::value& record, std::string_view name) {
  return record.is_object() ? textIn(record.get_object().if_contains(name)) : std::string();
}

inline std::optional<Time> timeIn(const std::string& text) {
  auto time = parseTime(text);
  return time.ok() ? std::optional(*time) : std::nullopt;
}
inline std::optional<Time> timeOf(const json::object& state, std::string_view field, std::string_view key) {
  return timeIn(textOf(state, field, key));
}

inline const json::array& listIn(const json::value* value) {
  static const json::array none;
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

// Whether a person has waived the rule for the subject.
inline bool isWaived(const json::object& state, std::string_view invariant, std::string_view subject) {
  for (const json::value& one : listIn(state.if_contains("waivers")))
    if (const json::array& pair = listIn(&one);
        pair.size() == 2 && textIn(&pair[0]) == invariant && textIn(&pair[1]) == subject)
      return true;
  return false;
}

}  // namespace witan::sim
