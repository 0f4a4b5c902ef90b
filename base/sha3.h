// SHA3-256 (FIPS 202), beside base/sha256.h: for commitments that outlive a break of SHA-2's construction.
//
// Any thread. No OpenSSL header is seen through this one.
#pragma once

#include <string_view>

#include "base/sha256.h"

namespace witan {

// O(bytes); about 1 us for a short text.
Hash sha3_256(std::string_view bytes);

}  // namespace witan
