#include "sim/draw.h"

#include <bit>

#include "base/check.h"
#include "base/sha256.h"

namespace witan::sim {

namespace {

__extension__ using Wide = unsigned __int128;

// log2 of x in 32.32 fixed point: the whole part is the highest bit, the rest comes bit by bit from squaring.
std::uint64_t log2Fixed(std::uint64_t x) {
  const int shift = std::countl_zero(x);
  std::uint64_t result = static_cast<std::uint64_t>(63 - shift) << 32;
  std::uint64_t mantissa = x << shift;  // 1.63
  for (int bit = 31; bit >= 0; --bit) {
    const Wide square = static_cast<Wide>(mantissa) * mantissa;  // 2.126
    const bool two = (square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (two ? 64 : 63));
    if (two) result |= std::uint64_t{1} << bit;
  }
  return result;
}

}  // namespace

std::uint64_t streamSeed(std::uint64_t seed, std::string_view purpose) {
  char number[8];
  for (int i = 0; i < 8; ++i) number[i] = static_cast<char>(seed >> (8 * i));
  Sha256 hash;
  hash.update(std::string_view(number, sizeof number)).update(purpose);
  const Hash digest = hash.finish();
  std::uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out |= static_cast<std::uint64_t>(digest[i]) << (8 * i);
  return out;
}

std::uint64_t exponential(Random& random, std::uint64_t mean) {
  WITAN_CHECK(mean < (std::uint64_t{1} << 56), "a mean within the years of a simulation");
  const std::uint64_t draw = random.next();
  // -ln(u) for u = draw / 2^64; u = 0 is taken for the smallest step above.
  const std::uint64_t bits = (std::uint64_t{64} << 32) - log2Fixed(draw == 0 ? 1 : draw);
  constexpr std::uint64_t kLn2 = 2'977'044'472;  // 0.32
  const std::uint64_t factor = static_cast<std::uint64_t>(static_cast<Wide>(bits) * kLn2 >> 32);
  return static_cast<std::uint64_t>(static_cast<Wide>(mean) * factor >> 32);
}

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  WITAN_CHECK(low <= high, "a range has something in it");
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t drawn = span == ~std::uint64_t{0} ? random.next() : random.below(span + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + drawn);
}

}  // namespace witan::sim
