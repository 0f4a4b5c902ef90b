// The seams through which time and chance enter. Whoever needs either takes a Clock& or Random& in its constructor; the
// simulator hands in its own. The cores (kernel/, domains/) take neither: they are told the time.
//
// Clock and Random objects must outlive whoever holds a reference. SystemClock and SystemRandom may be shared between
// threads; the others belong to one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/time.h"

namespace witan {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;  // wall time; may jump, also backwards
};

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;

  std::uint64_t next();
  // Uniform in [0, bound). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
};

class SystemClock final : public Clock {
 public:
  Time now() override;
};

// A clock that shows what it was set to.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Time start = {}) : now_(start) {}
  Time now() override { return now_; }
  void set(Time time) { now_ = time; }
  void advance(std::int64_t micros) { now_.micros += micros; }

 private:
  Time now_;
};

// The operating system's generator, through OpenSSL's RAND_bytes. A failure stops the process: keys and ids must never
// be made from anything weaker.
class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> out) override;
};

// xoshiro256** 1.0 (Blackman, Vigna: "Scrambled linear pseudorandom number generators", 2021), its state filled by
// splitmix64 from the seed. The same seed gives the same bytes on every machine. Never for secrets.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed);
  void fill(std::span<std::uint8_t> out) override;  // words little-endian; a fill always starts a new word

 private:
  std::uint64_t word();

  std::array<std::uint64_t, 4> state_;
};

}  // namespace witan
