// SHA-256 (FIPS 180-4), the one hash of Witan: identities, ledger leaves, checkpoints. And SHA3-256 (FIPS 202), for
// commitments that outlive a break of SHA-2's construction.
//
// The free functions may be called from any thread. A Sha256 is a value that belongs to one thread at a time; making
// one allocates nothing. No OpenSSL header is seen through this one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace witan {

using Hash = std::array<std::uint8_t, 32>;

// O(bytes), no allocation.
Hash sha256(std::string_view bytes);

// O(bytes); about 1 us for a short text.
Hash sha3_256(std::string_view bytes);

// SHA-256 in pieces, so that a prefix and a body need no copy to be hashed together.
class Sha256 {
 public:
  Sha256();

  Sha256& reset();  // forgets what was fed
  Sha256& update(std::string_view bytes);
  Hash finish();  // leaves the context reset, ready for the next message

 private:
  alignas(std::uint64_t) std::byte storage_[112];  // SHA256_CTX
};

}  // namespace witan
