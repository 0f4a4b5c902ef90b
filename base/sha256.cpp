// The digest functions of OpenSSL 1.1 are deprecated but are the same code without the provider layer, whose cost per
// digest (100 ns here) is that of two blocks. EVP would also allocate a context.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

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

}  // namespace witan
