// Fingerprints: 128-bit keyed hashes of versions, whose sum mod 2^128 with the count says whether two replicas hold the
// same. A sum, never XOR: two equal items would vanish from an XOR, and sets with equal XOR are easily made.
//
// The hash is XXH3 under a secret derived from the cluster's key. It is fast (about 40 ns a version) and keeps
// outsiders and accidents out; a member device that knows the secret could make two versions collide, and would then
// only hide its own damage from the digest. Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace witan::replication {

__extension__ using Uint128 = unsigned __int128;

// (count, sum): of a set of versions, also of a range of it.
struct Digest {
  std::uint64_t count = 0;
  Uint128 sum = 0;

  void add(Uint128 fingerprint) { ++count, sum += fingerprint; }
  void remove(Uint128 fingerprint) { --count, sum -= fingerprint; }
  void add(const Digest& other) { count += other.count, sum += other.sum; }

  friend bool operator==(const Digest&, const Digest&) = default;
};

// Count and sum in hex, for people.
std::string toString(const Digest& digest);

class FingerprintKey {
 public:
  // `clusterKey`: any bytes that all devices of a cluster share and strangers do not know.
  explicit FingerprintKey(std::string_view clusterKey);

  Uint128 hash128(std::string_view bytes) const;
  std::uint64_t hash64(std::string_view bytes) const;

 private:
  std::array<std::uint8_t, 192> secret_;
};

}  // namespace witan::replication
