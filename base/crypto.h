// Ed25519 signatures (RFC 8032) and HMAC-SHA256 (RFC 2104), over OpenSSL.
//
// A SigningKey is a shared handle to one immutable key: copies are cheap, const members may be called from any thread,
// and the secret is wiped when the last copy goes. No OpenSSL header is seen through this one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/seams.h"
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

}  // namespace witan
