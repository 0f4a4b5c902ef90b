#include "base/cipher.h"

#include <openssl/evp.h>

#include <memory>

#include "base/bytes.h"
#include "base/check.h"

namespace witan {

namespace {

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

constexpr std::size_t kMost = (std::size_t{1} << 31) - 64;  // EVP counts in int

Context newCipherContext() {
  Context context(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  WITAN_CHECK(context != nullptr, "there is memory for a cipher context");
  return context;
}

void checkSizes(std::string_view key, std::string_view nonce, std::string_view associated, std::string_view text) {
  WITAN_CHECK(key.size() == kCipherKeyBytes && nonce.size() == kCipherNonceBytes, "an AES-256-GCM key and nonce");
  WITAN_CHECK(associated.size() < kMost && text.size() < kMost, "less than 2 GiB");
}

const std::uint8_t* bytesOf(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

// No bytes are no call: to OpenSSL a null pointer means something.
template <class Update>
bool feed(Update update, const Context& context, std::uint8_t* into, int& count, std::string_view from) {
  return from.empty() || update(context.get(), into, &count, bytesOf(from), static_cast<int>(from.size())) == 1;
}

}  // namespace

std::string aesGcmSeal(std::string_view key, std::string_view nonce, std::string_view associated,
                       std::string_view plain) {
  checkSizes(key, nonce, associated, plain);
  const Context context = newCipherContext();
  std::string out(plain.size() + kCipherTagBytes, '\0');
  auto* into = reinterpret_cast<std::uint8_t*>(out.data());
  int count = 0, last = 0;
  const bool ok = EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(key), bytesOf(nonce)) == 1 &&
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
  const Context context = newCipherContext();
  Secret plain(cipher.size());
  std::uint8_t none = 0;
  std::uint8_t* into = cipher.empty() ? &none : plain.bytes().data();
  int count = 0, last = 0;
  const bool ready = EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(key), bytesOf(nonce)) == 1 &&
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
  WITAN_CHECK(EVP_PBE_scrypt(passphrase.reveal().data(), passphrase.size(), bytesOf(salt), salt.size(), n, cost.r,
                             cost.p, memory, key.bytes().data(), key.size()) == 1,
              "there is memory for scrypt");
  return key;
}

}  // namespace witan
