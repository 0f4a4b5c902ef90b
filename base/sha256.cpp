// The digest functions of OpenSSL 1.1 are deprecated but are the same code without the provider layer, whose cost per
// digest (100 ns here) is that of two blocks. EVP would also allocate a context.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <memory>
#include <new>
#include <type_traits>

#include "base/check.h"

namespace witan {
namespace {

SHA256_CTX* asContext(std::byte* storage) { return std::launder(reinterpret_cast<SHA256_CTX*>(storage)); }

}  // namespace

Sha256::Sha256() {
  static_assert(sizeof(SHA256_CTX) <= sizeof storage_ && alignof(SHA256_CTX) <= alignof(std::uint64_t));
  static_assert(std::is_trivially_copyable_v<SHA256_CTX>);
  ::new (static_cast<void*>(storage_)) SHA256_CTX;
  reset();
}

Sha256& Sha256::reset() {
  WITAN_CHECK(SHA256_Init(asContext(storage_)) == 1, "a digest can start over");
  return *this;
}

Sha256& Sha256::update(std::string_view bytes) {
  WITAN_CHECK(SHA256_Update(asContext(storage_), bytes.data(), bytes.size()) == 1, "a started digest takes bytes");
  return *this;
}

Hash Sha256::finish() {
  Hash hash;
  WITAN_CHECK(SHA256_Final(hash.data(), asContext(storage_)) == 1, "a started digest can finish");
  reset();
  return hash;
}

Hash sha256(std::string_view bytes) { return Sha256().update(bytes).finish(); }

Hash sha3_256(std::string_view bytes) {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
  };
  // Looking the algorithm up and making a context cost more than a short digest.
  static const std::unique_ptr<EVP_MD, Free> kSha3(EVP_MD_fetch(nullptr, "SHA3-256", nullptr));
  static thread_local const std::unique_ptr<EVP_MD_CTX, Free> kContext(EVP_MD_CTX_new());
  Hash hash;
  unsigned length = 0;
  WITAN_CHECK(kSha3 != nullptr && kContext != nullptr, "OpenSSL has SHA3-256");
  WITAN_CHECK(EVP_DigestInit_ex(kContext.get(), kSha3.get(), nullptr) == 1, "a digest can start over");
  WITAN_CHECK(EVP_DigestUpdate(kContext.get(), bytes.data(), bytes.size()) == 1, "a started digest takes bytes");
  WITAN_CHECK(EVP_DigestFinal_ex(kContext.get(), hash.data(), &length) == 1 && length == hash.size(),
              "a started digest can finish");
  return hash;
}

}  // namespace witan
