// Integers of a JSON text from outside that its value cannot hold: parseJson makes the nearest double of what exceeds
// 64 bits. Where people's words are kept as they are, that is refused and not rounded.
//
// Pure function, any thread.
#pragma once

#include <string_view>

#include "base/result.h"

namespace witan {

// Errors: invalid, with the first integer that would be given back with other digits, and its byte offset. Requires:
// parseJson took the text. O(bytes).
Status checkIntegersKept(std::string_view text);

}  // namespace witan
