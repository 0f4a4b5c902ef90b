#include "base/sealed_key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <memory>

#include "base/check.h"

namespace witan {

namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* owned) const {
    Free(owned);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

// What `openssl pkcs8 -scrypt` takes; its readers allow no more memory than twice that.
constexpr std::uint64_t kScryptN = 1 << 14, kScryptR = 8, kScryptP = 1;

Owned<EVP_PKEY, EVP_PKEY_free> pkeyOf(const SigningKey& key) {
  std::string seed = key.seed();
  Owned<EVP_PKEY, EVP_PKEY_free> made(EVP_PKEY_new_raw_private_key_ex(
      nullptr, "ED25519", nullptr, reinterpret_cast<const unsigned char*>(seed.data()), seed.size()));
  wipe(seed);
  WITAN_CHECK(made != nullptr, "a key is a key to OpenSSL");
  return made;
}

int giveWords(char* into, int room, int, void* passphrase) {
  const std::string_view words = static_cast<const Secret*>(passphrase)->reveal();
  if (words.size() > static_cast<std::size_t>(room)) return -1;
  words.copy(into, words.size());
  return static_cast<int>(words.size());
}

}  // namespace

Result<std::string> sealKey(const SigningKey& key, const Secret& passphrase) {
  if (passphrase.size() < kMinPassphrase)
    return invalid(concat("the passphrase is too short (", kMinPassphrase, " characters at least)"));
  const auto made = pkeyOf(key);
  const Owned<PKCS8_PRIV_KEY_INFO, PKCS8_PRIV_KEY_INFO_free> plain(EVP_PKEY2PKCS8(made.get()));
  X509_ALGOR* algorithm = PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nullptr, 0, nullptr, kScryptN, kScryptR, kScryptP);
  WITAN_CHECK(algorithm != nullptr, "OpenSSL has scrypt");
  const std::string_view words = passphrase.reveal();
  const Owned<X509_SIG, X509_SIG_free> sealed(
      PKCS8_set0_pbe(words.data(), static_cast<int>(words.size()), plain.get(), algorithm));
  const Owned<BIO, BIO_free> out(BIO_new(BIO_s_mem()));
  WITAN_CHECK(sealed != nullptr && PEM_write_bio_PKCS8(out.get(), sealed.get()) == 1, "OpenSSL seals a key");
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

Result<SigningKey> openSealedKey(std::string_view pem, const Secret& passphrase) {
  if (pem.size() > kMaxSealedKey || pem.find("-----BEGIN ") == std::string_view::npos)
    return invalid("the file holds no key", "`witan person add` makes one");
  const Owned<BIO, BIO_free> in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const Owned<EVP_PKEY, EVP_PKEY_free> key(
      PEM_read_bio_PrivateKey(in.get(), nullptr, giveWords, const_cast<Secret*>(&passphrase)));
  ERR_clear_error();
  if (key == nullptr) return Error{ErrorCode::unauthorised, "the passphrase does not open the key", "try again"};
  Secret seed(32);
  std::size_t size = seed.size();
  if (EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_private_key(key.get(), seed.bytes().data(), &size) != 1 || size != seed.size())
    return invalid("the file holds a key of another kind", "an Ed25519 key is needed");
  return SigningKey::fromSeed(seed.reveal());
}

}  // namespace witan
