// Sealed boxes: a text for the owner of one Ed25519 key. X25519 (RFC 7748) with a key of its own for each box, and
// AES-256-GCM. The Ed25519 key is used as its X25519 counterpart, as libsodium and age do it, so that whoever has a
// signing key needs no second one.
//
//   box   32 bytes public key of the box, ciphertext with its tag
//
// Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.h"

namespace witan {

inline constexpr std::size_t kBoxOverhead = 32 + kCipherTagBytes;

// `about` is not in the box, and without it the box does not open. Errors: invalid, the key is no point of the curve.
Result<std::string> sealBox(const PublicKey& to, std::string_view about, std::string_view plain, Random& random);
// None: it is for another key or about something else, or was changed.
std::optional<Secret> openBox(const SigningKey& key, std::string_view about, std::string_view box);

}  // namespace witan
