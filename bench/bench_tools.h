// What the benchmarks share: a stopwatch, order statistics, resident memory, arguments. For bench/ only.
#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/seams.h"

namespace witan::bench {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Processor time of the calling thread: what one core spent on it, however busy the machine is.
class ThreadStopwatch {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double start_ = now();
};

// The value below which the share `q` of the samples lies; 0 without samples.
inline double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at), samples.end());
  return samples[at];
}
inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

// Resident memory of this process, in bytes.
inline std::uint64_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// SplitMix64 (Steele, Lea, Flood 2014): the same workload every time.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  std::uint64_t pick(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(word()) * bound >> 64);
  }
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(word());
  }

 private:
  std::uint64_t state_;
};

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}
template <class T>
T must(Result<T> result, std::string_view what) {
  if (!result) fail(std::string(what) + ": " + result.error().message);
  return std::move(result).value();
}
inline void must(const Status& status, std::string_view what) {
  if (!status.ok()) fail(std::string(what) + ": " + status.error().message);
}

// --name VALUE pairs and bare words; unknown names end the program.
class Arguments {
 public:
  Arguments(int argc, char** argv, std::vector<std::string> known) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (std::find(known.begin(), known.end(), name) == known.end() || i + 1 >= argc) {
        std::string all;
        for (const std::string& k : known) all += " " + k + " VALUE";
        fail("usage: " + std::string(argv[0]) + all);
      }
      given_.emplace_back(name, argv[++i]);
    }
  }
  std::string text(std::string_view name, std::string fallback) const {
    for (const auto& [key, value] : given_)
      if (key == name) return value;
    return fallback;
  }
  std::uint64_t number(std::string_view name, std::uint64_t fallback) const {
    const std::string value = text(name, "");
    return value.empty() ? fallback : std::strtoull(value.c_str(), nullptr, 10);
  }

 private:
  std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace witan::bench
