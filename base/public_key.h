// What may stand as a public Ed25519 key that came from outside. Pure functions, any thread.
#pragma once

#include <string_view>

#include "base/crypto.h"
#include "base/result.h"

namespace witan {

// A point of the curve in its only encoding (RFC 8032, section 5.1.3), of the order that keys have: under one of small
// order anybody signs anything. About 10 us. Errors: invalid, with `what`.
Status checkPublicKey(std::string_view what, const PublicKey& key);

// Not canonical or of small order; cheap. What is no point stays: no signature holds under it.
bool isWeakKey(const PublicKey& key);

}  // namespace witan
