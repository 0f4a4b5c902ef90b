#include "base/seams.h"

#include <openssl/rand.h>

#include <algorithm>
#include <bit>
#include <boost/endian/conversion.hpp>
#include <chrono>

#include "base/check.h"

namespace witan {

std::uint64_t Random::next() {
  std::array<std::uint8_t, 8> bytes;
  fill(bytes);
  return boost::endian::load_little_u64(bytes.data());
}

std::uint64_t Random::below(std::uint64_t bound) {
  WITAN_CHECK(bound > 0, "there is a number below the bound");
  // Draws below 2^64 mod bound are thrown away, else the small results would be more likely.
  const std::uint64_t refused = (0 - bound) % bound;
  std::uint64_t draw = next();
  while (draw < refused) draw = next();
  return draw % bound;
}

Time SystemClock::now() {
  const auto sinceEpoch = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(sinceEpoch).count()};
}

void SystemRandom::fill(std::span<std::uint8_t> out) {
  // RAND_bytes takes an int.
  constexpr std::size_t kPiece = 1 << 20;
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), kPiece);
    WITAN_CHECK(RAND_bytes(out.data(), static_cast<int>(count)) == 1, "the system has random bytes");
    out = out.subspan(count);
  }
}

SeededRandom::SeededRandom(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {  // splitmix64
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

std::uint64_t SeededRandom::word() {  // xoshiro256**
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[1] * 5, 7) * 9;
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

void SeededRandom::fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    std::uint64_t bits = word();
    const std::size_t count = std::min<std::size_t>(8, out.size());
    for (std::size_t i = 0; i < count; ++i, bits >>= 8) out[i] = static_cast<std::uint8_t>(bits);
    out = out.subspan(count);
  }
}

}  // namespace witan
