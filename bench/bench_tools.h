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
#include "base/string_util.h"

namespace witan::bench {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Processor time of the calling thread: what one core spent on it, however busy the machine is. With
// CLOCK_PROCESS_CPUTIME_ID that of all threads.
class ThreadStopwatch {
 public:
  explicit ThreadStopwatch(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) : clock_(clock) {}
  double seconds() const { return now() - start_; }

 private:
  double now() const {
    timespec t{};
    clock_gettime(clock_, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  const clockid_t clock_;
  const double start_ = now();
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

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}
// The value or success of `result`; an error ends the program.
template <class T>
T must(Result<T> result, std::string_view what = "step") {
  if (!result) fail(concat(what, ": ", result.error().message));
  return std::move(result).value();
}
inline void must(const Status& status, std::string_view what = "step") {
  if (!status.ok()) fail(concat(what, ": ", status.error().message));
}

// --name VALUE pairs, with `verbs` behind one of these words; anything else ends the program.
class Arguments {
 public:
  Arguments(int argc, char** argv, const std::vector<std::string>& known, const std::vector<std::string>& verbs = {}) {
    const auto isOneOf = [](const std::vector<std::string>& all, const std::string& word) {
      return std::ranges::find(all, word) != all.end();
    };
    const std::string usage = concat("usage: ", argv[0], " ", joined(verbs, "", "|"));
    int next = 1;
    if (!verbs.empty()) {
      if (argc < 2 || !isOneOf(verbs, argv[next])) fail(usage);
      verb_ = argv[next++];
    }
    for (; next < argc; next += 2) {
      if (!isOneOf(known, argv[next]) || next + 1 >= argc) fail(usage + " " + joined(known, "", " VALUE ") + " VALUE");
      given_.emplace_back(argv[next], argv[next + 1]);
    }
  }
  const std::string& verb() const { return verb_; }
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
  std::string verb_;
  std::vector<std::pair<std::string, std::string>> given_;
};

}  // namespace witan::bench
