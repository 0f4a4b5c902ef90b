// The order of keys in canonical JSON, for who lays out such a text piece by piece. Pure function, any thread.
#pragma once

#include <string_view>

namespace witan {

// RFC 8785 section 3.2.3: by UTF-16 code units. Requires: both are UTF-8. O(shared prefix).
bool jsonKeyLess(std::string_view a, std::string_view b);

}  // namespace witan
