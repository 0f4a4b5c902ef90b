// Ed25519 signatures (RFC 8032), HMAC-SHA256 (RFC 2104), AES-256-GCM and scrypt (RFC 7914), over OpenSSL.
//
// A SigningKey is a shared handle to one immutable key: copies are cheap, const members may be called from any thread,
// and the secret is wiped when the last copy goes. The functions may be called from any thread. No OpenSSL header is
// seen through this one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/seams.h"
#include "base/secret.h"
#include "base/sha256.h"

namespace witan {

using PublicKey = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

class SigningKey {
 public:
  static SigningKey generate(Random& random);
  // `seed` is the 32-byte private key of RFC 8032 section 5.1.5.
  static Result<SigningKey> fromSeed(std::string_view seed);

  PublicKey publicKey() const { return publicKey_; }
  Signature sign(std::string_view message) const;  // 25 to 45 us
  std::string seed() const;                        // the secret: for the key file only

 private:
  SigningKey(std::shared_ptr<void> key, const PublicKey& publicKey) : key_(std::move(key)), publicKey_(publicKey) {}

  std::shared_ptr<void> key_;  // EVP_PKEY
  PublicKey publicKey_;
};

// False for anything but a valid signature: wrong lengths, keys that are no curve point and non-canonical S included.
// 70 to 110 us.
bool verifySignature(std::span<const std::uint8_t> publicKey, std::string_view message,
                     std::span<const std::uint8_t> signature);
bool verifySignature(std::string_view publicKey, std::string_view message, std::string_view signature);

Hash hmacSha256(std::string_view key, std::string_view data);

// AES-256-GCM (NIST SP 800-38D).
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
