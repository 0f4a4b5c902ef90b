#include "base/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/bytes.h"
#include "base/check.h"
#include "base/public_key.h"
#include "base/signature_memory.h"

namespace witan {
namespace {

using PkeyHandle = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using ContextHandle = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

ContextHandle newContext() {
  ContextHandle context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  WITAN_CHECK(context != nullptr, "there is memory for a signature context");
  return context;
}

using CipherHandle = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

constexpr std::size_t kMost = (std::size_t{1} << 31) - 64;  // EVP counts in int

CipherHandle newCipherContext() {
  CipherHandle context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  WITAN_CHECK(context != nullptr, "there is memory for a cipher context");
  return context;
}

void checkSizes(std::string_view key, std::string_view nonce, std::string_view associated, std::string_view text) {
  WITAN_CHECK(key.size() == kCipherKeyBytes && nonce.size() == kCipherNonceBytes, "an AES-256-GCM key and nonce");
  WITAN_CHECK(associated.size() < kMost && text.size() < kMost, "less than 2 GiB");
}

// No bytes are no call: to OpenSSL a null pointer means something.
template <class Update>
bool feed(Update update, const CipherHandle& context, std::uint8_t* into, int& count, std::string_view from) {
  return from.empty() || update(context.get(), into, &count, asBytes(from).data(), static_cast<int>(from.size())) == 1;
}

// By the digest of key, signature and message: does it hold? Null outside of simulations.
struct DigestHasher {
  std::size_t operator()(const Hash& hash) const {
    std::size_t word;
    std::memcpy(&word, hash.data(), sizeof word);
    return word;
  }
};
using Remembered = std::unordered_map<Hash, bool, DigestHasher>;
thread_local std::unique_ptr<Remembered> remembered;

Hash digestOf(std::span<const std::uint8_t> publicKey, std::string_view message,
              std::span<const std::uint8_t> signature) {
  return Sha256().update(asView(publicKey)).update(asView(signature)).update(message).finish();
}

bool holdsUnder(std::span<const std::uint8_t> publicKey, std::string_view message,
                std::span<const std::uint8_t> signature) {
  const PkeyHandle key(EVP_PKEY_new_raw_public_key_ex(nullptr, "ED25519", nullptr, publicKey.data(), publicKey.size()),
                       EVP_PKEY_free);
  if (key == nullptr) return false;
  const auto context = newContext();
  if (EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, nullptr, nullptr, key.get(), nullptr) != 1) return false;
  return EVP_DigestVerify(context.get(), signature.data(), signature.size(), asBytes(message).data(), message.size()) ==
         1;
}

}  // namespace

SignatureMemory::SignatureMemory() {
  WITAN_CHECK(remembered == nullptr, "a thread has one memory of signatures");
  remembered = std::make_unique<Remembered>();
}
SignatureMemory::~SignatureMemory() { remembered.reset(); }

SigningKey SigningKey::generate(Random& random) {
  std::array<std::uint8_t, 32> seed;
  random.fill(seed);
  auto key = fromSeed(asView(seed));
  OPENSSL_cleanse(seed.data(), seed.size());
  return std::move(key).value();
}

Result<SigningKey> SigningKey::fromSeed(std::string_view seed) {
  if (seed.size() != 32) return invalid(concat("an Ed25519 seed has 32 bytes, not ", seed.size()));
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
  if (remembered != nullptr) remembered->emplace(digestOf(publicKey_, message, signature), true);
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
  PublicKey key;
  std::ranges::copy(publicKey, key.begin());
  if (isWeakKey(key)) return false;
  if (remembered == nullptr) return holdsUnder(publicKey, message, signature);
  const auto [at, fresh] = remembered->try_emplace(digestOf(publicKey, message, signature), false);
  if (fresh) at->second = holdsUnder(publicKey, message, signature);
  return at->second;
}

bool verifySignature(std::string_view publicKey, std::string_view message, std::string_view signature) {
  return verifySignature(asBytes(publicKey), message, asBytes(signature));
}

Hash hmacSha256(std::string_view key, std::string_view data) {
  Hash hash;
  unsigned size = 0;
  WITAN_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), asBytes(data).data(), data.size(),
                   hash.data(), &size) != nullptr &&
                  size == hash.size(),
              "OpenSSL has HMAC-SHA256");
  return hash;
}

std::string aesGcmSeal(std::string_view key, std::string_view nonce, std::string_view associated,
                       std::string_view plain) {
  checkSizes(key, nonce, associated, plain);
  const CipherHandle context = newCipherContext();
  std::string out(plain.size() + kCipherTagBytes, '\0');
  auto* into = reinterpret_cast<std::uint8_t*>(out.data());
  int count = 0, last = 0;
  const bool ok =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, asBytes(key).data(), asBytes(nonce).data()) == 1 &&
      feed(EVP_EncryptUpdate, context, nullptr, last, associated) &&
      feed(EVP_EncryptUpdate, context, into, count, plain) &&
      EVP_EncryptFinal_ex(context.get(), into + count, &last) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kCipherTagBytes, into + plain.size()) == 1;
  WITAN_CHECK(ok && static_cast<std::size_t>(count) == plain.size(), "AES-256-GCM encrypts");
  return out;
}

std::optional<Secret> aesGcmOpen(std::string_view key, std::string_view nonce, std::string_view associated,
                                 std::string_view sealed) {
  checkSizes(key, nonce, associated, sealed);
  if (sealed.size() < kCipherTagBytes) return std::nullopt;
  const std::string_view cipher = sealed.substr(0, sealed.size() - kCipherTagBytes);
  std::string tag(sealed.substr(cipher.size()));
  const CipherHandle context = newCipherContext();
  Secret plain(cipher.size());
  std::uint8_t none = 0;
  std::uint8_t* into = cipher.empty() ? &none : plain.bytes().data();
  int count = 0, last = 0;
  const bool ready =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, asBytes(key).data(), asBytes(nonce).data()) == 1 &&
      feed(EVP_DecryptUpdate, context, nullptr, last, associated) &&
      feed(EVP_DecryptUpdate, context, into, count, cipher) &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kCipherTagBytes, tag.data()) == 1;
  WITAN_CHECK(ready, "AES-256-GCM decrypts");
  if (EVP_DecryptFinal_ex(context.get(), into + count, &last) != 1) return std::nullopt;
  return plain;
}

Secret scryptKey(const Secret& passphrase, std::string_view salt, ScryptCost cost) {
  WITAN_CHECK(cost.log2N >= 1 && cost.log2N <= 24 && cost.r > 0 && cost.p > 0, "costs that scrypt is defined for");
  const std::uint64_t n = std::uint64_t{1} << cost.log2N;
  const std::uint64_t memory = 128 * n * cost.r + 256 * cost.r * cost.p + (std::uint64_t{1} << 20);
  Secret key(kCipherKeyBytes);
  WITAN_CHECK(EVP_PBE_scrypt(passphrase.reveal().data(), passphrase.size(), asBytes(salt).data(), salt.size(), n,
                             cost.r, cost.p, memory, key.bytes().data(), key.size()) == 1,
              "there is memory for scrypt");
  return key;
}

}  // namespace witan
