#include "base/sha3.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"

namespace witan {

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
