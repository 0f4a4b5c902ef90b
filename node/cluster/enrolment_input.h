// What people type about devices when they enrol one, read with care. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace witan::node {

// A fingerprint as fingerprintOf() writes it (node/cluster/device_key.h); spaces, colons and capitals do not matter.
// Errors name the place.
Result<std::string> parseFingerprint(std::string_view text);

// Those of the addresses that others can dial: without port 0, 0.0.0.0 and [::].
std::vector<std::string> dialable(std::vector<std::string> addresses);

}  // namespace witan::node
