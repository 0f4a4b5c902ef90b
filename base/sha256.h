// SHA-256 (FIPS 180-4), the one hash of Witan: identities, ledger leaves, checkpoints.
//
// The free function may be called from any thread: each thread keeps one context. A Sha256 belongs to one thread at a
// time. Nothing must outlive either. No OpenSSL header is seen through this one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace witan {

using Hash = std::array<std::uint8_t, 32>;

// O(bytes), no allocation after a thread's first call.
Hash sha256(std::string_view bytes);

// The same in pieces, so that a prefix and a body need no copy to be hashed together.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& reset();  // forgets what was fed
  Sha256& update(std::string_view bytes);
  Hash finish();  // leaves the context reset, ready for the next message

 private:
  void* context_;  // EVP_MD_CTX; null after a move
};

}  // namespace witan
