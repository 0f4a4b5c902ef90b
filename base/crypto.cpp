#include "base/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace witan {
namespace {

using PkeyHandle = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using ContextHandle = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

ContextHandle newContext() {
  ContextHandle context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  WITAN_CHECK(context != nullptr, "there is memory for a signature context");
  return context;
}

}  // namespace

SigningKey SigningKey::generate(Random& random) {
  std::array<std::uint8_t, 32> seed;
  random.fill(seed);
  auto key = fromSeed(asView(seed));
  OPENSSL_cleanse(seed.data(), seed.size());
  return std::move(key).value();
}

Result<SigningKey> SigningKey::fromSeed(std::string_view seed) {
  if (seed.size() != 32) return invalid("an Ed25519 seed has 32 bytes, not " + std::to_string(seed.size()));
  EVP_PKEY* raw = EVP_PKEY_new_raw_private_key_ex(nullptr, "ED25519", nullptr, asBytes(seed).data(), seed.size());
  WITAN_CHECK(raw != nullptr, "every 32 bytes are an Ed25519 private key");
  std::shared_ptr<void> key(raw, [](void* owned) { EVP_PKEY_free(static_cast<EVP_PKEY*>(owned)); });
  PublicKey publicKey;
  std::size_t size = publicKey.size();
  WITAN_CHECK(EVP_PKEY_get_raw_public_key(raw, publicKey.data(), &size) == 1 && size == publicKey.size(),
              "an Ed25519 key knows its public key");
  return SigningKey(std::move(key), publicKey);
}

Signature SigningKey::sign(std::string_view message) const {
  const auto context = newContext();
  Signature signature;
  std::size_t size = signature.size();
  WITAN_CHECK(EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, nullptr, nullptr,
                                    static_cast<EVP_PKEY*>(key_.get()), nullptr) == 1,
              "an Ed25519 key can sign");
  WITAN_CHECK(EVP_DigestSign(context.get(), signature.data(), &size, asBytes(message).data(), message.size()) == 1 &&
                  size == signature.size(),
              "an Ed25519 signature has 64 bytes");
  return signature;
}

std::string SigningKey::seed() const {
  std::string seed(32, '\0');
  std::size_t size = seed.size();
  WITAN_CHECK(EVP_PKEY_get_raw_private_key(static_cast<EVP_PKEY*>(key_.get()),
                                           reinterpret_cast<unsigned char*>(seed.data()), &size) == 1 &&
                  size == seed.size(),
              "an Ed25519 key knows its seed");
  return seed;
}

bool verifySignature(std::span<const std::uint8_t> publicKey, std::string_view message,
                     std::span<const std::uint8_t> signature) {
  if (publicKey.size() != 32 || signature.size() != 64) return false;
  const PkeyHandle key(EVP_PKEY_new_raw_public_key_ex(nullptr, "ED25519", nullptr, publicKey.data(), publicKey.size()),
                       EVP_PKEY_free);
  if (key == nullptr) return false;
  const auto context = newContext();
  if (EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, nullptr, nullptr, key.get(), nullptr) != 1) return false;
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), asBytes(message).data(), message.size()) ==
         1;
}

bool verifySignature(std::string_view publicKey, std::string_view message, std::string_view signature) {
  return verifySignature(asBytes(publicKey), message, asBytes(signature));
}

// RFC 2104 section 2: H((K ^ opad) || H((K ^ ipad) || data)), where K is padded with zeros to the block of 64 bytes.
Hash hmacSha256(std::string_view key, std::string_view data) {
  std::array<std::uint8_t, 64> block{};
  if (key.size() > block.size()) {
    const Hash shortened = sha256(key);
    std::copy(shortened.begin(), shortened.end(), block.begin());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  for (std::uint8_t& byte : block) byte ^= 0x36;
  Sha256 context;
  const Hash inner = context.update(asView(block)).update(data).finish();
  for (std::uint8_t& byte : block) byte ^= 0x36 ^ 0x5c;
  const Hash outer = context.update(asView(block)).update(asView(inner)).finish();
  OPENSSL_cleanse(block.data(), block.size());
  return outer;
}

}  // namespace witan
