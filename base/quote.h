// Text in double quotes: made fit for an error message (printable, bounded), or as JSON. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace witan {

// Bytes outside printable ASCII, quotes and backslashes become \xNN; beyond `limit` bytes it ends in "...". (Not named
// quoted: a call with a std::string would find std::quoted.)
std::string inQuotes(std::string_view text, std::size_t limit = 64);

// The whole text as a JSON string in canonical form (base/json.h). It must be UTF-8.
std::string jsonQuoted(std::string_view text);

}  // namespace witan
