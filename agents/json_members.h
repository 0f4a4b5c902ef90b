// Members of the JSON objects that agents, their tools and feeds are told: read, or said what is wrong with them.
//
// Pure functions, any thread. Views and pointers are into the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace witan::agents {

// A text that is not empty. Errors: invalidInput, with the member's name.
Result<std::string> textOf(const json::object& object, std::string_view member);
// The same of one that may be missing or empty.
Result<std::string> textOf(const json::object& object, std::string_view member, std::string_view otherwise);
// Empty: it is missing, or no text.
std::string_view stringOf(const json::object& object, std::string_view member);
// None: it is missing, or no integer; also of a value that is no object.
std::optional<std::int64_t> integerOf(const json::value& value, std::string_view member);
// Null: it is missing, or no list.
const json::array* arrayOf(const json::object& object, std::string_view member);

// The entries that `journal.list` gave as the n-th of the observations; null: none.
const json::array* entriesIn(const json::value& observations, std::size_t n);
// Whether there were more than these.
bool moreIn(const json::value& observations, std::size_t n);

}  // namespace witan::agents
