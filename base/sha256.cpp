#include "base/sha256.h"

#include <openssl/evp.h>

#include <utility>

#include "base/check.h"

namespace witan {
namespace {

// Fetched once per process: an implicit fetch per digest (EVP_Q_digest, SHA256()) is 3x slower at 100 bytes. Never
// freed, because contexts of other threads may use it until the process ends.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  WITAN_CHECK(fetched != nullptr, "OpenSSL provides SHA-256");
  return fetched;
}

EVP_MD_CTX* asContext(void* context) { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  WITAN_CHECK(context_ != nullptr, "there is memory for a digest context");
  reset();
}

Sha256::~Sha256() { EVP_MD_CTX_free(asContext(context_)); }

Sha256::Sha256(Sha256&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

Sha256& Sha256::operator=(Sha256&& other) noexcept {
  std::swap(context_, other.context_);
  return *this;
}

Sha256& Sha256::reset() {
  WITAN_CHECK(EVP_DigestInit_ex2(asContext(context_), algorithm(), nullptr) == 1, "a digest context can start over");
  return *this;
}

Sha256& Sha256::update(std::string_view bytes) {
  WITAN_CHECK(EVP_DigestUpdate(asContext(context_), bytes.data(), bytes.size()) == 1, "a started digest takes bytes");
  return *this;
}

Hash Sha256::finish() {
  Hash hash;
  WITAN_CHECK(EVP_DigestFinal_ex(asContext(context_), hash.data(), nullptr) == 1, "a started digest can finish");
  reset();
  return hash;
}

Hash sha256(std::string_view bytes) {
  thread_local Sha256 context;
  return context.update(bytes).finish();
}

}  // namespace witan
