// TOML from outside, before the parser sees it. Pure function, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

// The parser recurses over the parts of a dotted key without a limit: 50,000 of them end the process. Refuses 256 dots
// in a row that nothing but parts of a key could stand between, naming the line; texts and comments may hold any.
// O(text).
Status checkTomlKeys(std::string_view text, const std::string& name);

}  // namespace witan
