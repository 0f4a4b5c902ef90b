#include "replication/fingerprint.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>

#include "base/concat.h"
#include "base/sha256.h"

namespace witan::replication {

std::string toString(const Digest& digest) {
  char text[80];
  std::snprintf(text, sizeof text, "%llu:%016llx%016llx", static_cast<unsigned long long>(digest.count),
                static_cast<unsigned long long>(digest.sum >> 64), static_cast<unsigned long long>(digest.sum));
  return text;
}

FingerprintKey::FingerprintKey(std::string_view clusterKey) : secret_{} {
  // SHA-256 in counter mode; XXH3 wants 192 bytes that look random.
  for (std::size_t i = 0; i < 6; ++i) {
    const Hash block = sha256(concat("witan-fingerprint-", i, "|", clusterKey));
    std::ranges::copy(block, secret_.begin() + static_cast<std::ptrdiff_t>(i * block.size()));
  }
}

Uint128 FingerprintKey::hash128(std::string_view bytes) const {
  const XXH128_hash_t h = XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret_.data(), secret_.size());
  return static_cast<Uint128>(h.high64) << 64 | h.low64;
}

std::uint64_t FingerprintKey::hash64(std::string_view bytes) const {
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret_.data(), secret_.size());
}

}  // namespace witan::replication
