// Whether a JSON text is canonical already, found out without building its value. Records hold canonical JSON and are
// checked whenever they are written, arrive or are read back: nearly always the answer is yes. Pure functions, any
// thread.
#pragma once

#include <string_view>

#include "base/json.h"

namespace witan {

// True: parseJson(text, limits) reads it, and canonicalJson gives `text` back. False: it may be either; numbers with a
// fraction, an exponent or more than 15 digits, and strings with an escape are not judged. O(bytes), allocates nothing.
bool surelyCanonicalJson(std::string_view text, JsonLimits limits = {});

}  // namespace witan
