// AES-256-GCM (NIST SP 800-38D) and scrypt (RFC 7914), over OpenSSL: what files of secrets are made with.
//
// Pure functions, any thread. No OpenSSL header is seen through this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/secret.h"

namespace witan {

inline constexpr std::size_t kCipherKeyBytes = 32;
inline constexpr std::size_t kCipherNonceBytes = 12;
inline constexpr std::size_t kCipherTagBytes = 16;

// The ciphertext with its tag behind it. `associated` is authenticated and not encrypted. Requires: a key of 32 bytes,
// a nonce of 12 that was never used with this key, less than 2 GiB.
std::string aesGcmSeal(std::string_view key, std::string_view nonce, std::string_view associated,
                       std::string_view plain);

// None if key, nonce, associated data, ciphertext or tag is not what was sealed. Requires: sizes as above.
std::optional<Secret> aesGcmOpen(std::string_view key, std::string_view nonce, std::string_view associated,
                                 std::string_view sealed);

// RFC 7914 section 2: N = 2^log2N, block size r, parallelisation p. Needs 128 * N * r bytes of memory.
struct ScryptCost {
  std::uint8_t log2N = 15;
  std::uint8_t r = 8;
  std::uint8_t p = 1;
  friend bool operator==(const ScryptCost&, const ScryptCost&) = default;
};

// 32 bytes. Requires: 1 <= log2N <= 24, r and p positive. 2^15 with r = 8 takes about 0.1 s and 32 MiB.
Secret scryptKey(const Secret& passphrase, std::string_view salt, ScryptCost cost);

}  // namespace witan
