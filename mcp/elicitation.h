// Form: what a server of the Model Context Protocol wants filled in, amid a call. A flat object of texts, numbers, yes
// and no, and choices, with words for a person. It comes from outside: its size and its shape are bounded, and the
// words are data.
//
// Values and pure functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace witan::mcp {

inline constexpr std::size_t kMostFormFields = 32;

struct Form {
  std::string words;
  json::object schema;  // JSON Schema, without what only says how to show it
};

enum class FormAction { accept, decline, cancel };

// Of the params of elicitation/create. Errors: invalid; it is none, or one that is not understood (a page to visit).
Result<Form> formOf(const json::object& params);
// Errors: invalid, naming the field.
Status checkForm(const Form& form, const json::object& content);
// All of its defaults. None: something without a default is required.
std::optional<json::object> defaultsOf(const Form& form);

// As the server gets it.
json::object formAnswer(FormAction action, json::object content);

}  // namespace witan::mcp
