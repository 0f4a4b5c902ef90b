// Names that people can read and tell apart: of devices, persons and entities. Where one is given it is refused if it
// is not legible; names that stand in old rosters and logs stay. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace witan {

// UTF-8 in the form NFC, without characters that are invisible or have a plain form, each word of one alphabet (Latin,
// Greek and Cyrillic share shapes), without blanks at its ends or in a row. Controls are the caller's. Errors: invalid,
// with the name.
Status checkLegible(std::string_view name);

// Small letters, in the Latin ones that they look like (of Greek and Cyrillic): equal for names that people would take
// for each other. Requires: UTF-8.
std::u32string shapeOf(std::string_view name);

}  // namespace witan
