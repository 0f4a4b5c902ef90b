// Strict reading of JSON with the path of every place ("$.agents.a1.epochs[0]"). Pure functions; nothing is kept.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_codec.h"

namespace witan::kernel::joint {

// The path of a member and of an element. Names that are no plain words come in brackets and quotes.
std::string memberPath(std::string_view path, std::string_view name);
std::string elementPath(std::string_view path, std::size_t index);

// An object with all of `required`, perhaps some of `optional`, and nothing else.
Status hasMembers(const json::value& value, std::string_view path, std::initializer_list<std::string_view> required,
                  std::initializer_list<std::string_view> optional = {});

Result<std::string> readName(const json::value& value, std::string_view path, std::size_t most);

// The word of an enumeration.
template <NamedEnum E>
Result<E> readWord(const json::value& value, std::string_view path) {
  E word{};
  WITAN_DO(JsonCodec<E>::read(value, word, path));
  return word;
}

// A plain word as JSON text.
inline std::string orNull(const std::optional<std::string>& word) { return word ? "\"" + *word + "\"" : "null"; }

// The canonical text of text, a number, true, false or null; anything else is an error.
Result<std::string> readPrimitive(const json::value& value, std::string_view path);

}  // namespace witan::kernel::joint
