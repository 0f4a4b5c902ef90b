// An Ed25519 key in a file that a passphrase opens: PEM, PKCS #8 with scrypt and AES-256-CBC, as `openssl pkey` reads
// it and `openssl genpkey` writes it. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/crypto.h"

namespace witan {

inline constexpr std::size_t kMaxSealedKey = 8192;  // bytes of the file
inline constexpr std::size_t kMinPassphrase = 8;    // characters

// Errors: the passphrase is too short.
Result<std::string> sealKey(const SigningKey& key, const Secret& passphrase);
// Errors: no such file; another passphrase; a key of another kind.
Result<SigningKey> openSealedKey(std::string_view pem, const Secret& passphrase);

}  // namespace witan
