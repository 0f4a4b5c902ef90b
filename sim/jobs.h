// Many seeds over worker processes. A worker that dies (a failed WITAN_CHECK, a crash, a run without end) costs its
// seed only: that one fails with checker "assertion", "crash" or "hang", and another worker goes on.
//
// Called from a process with one thread: it forks. The runner is called in the workers; what it changes elsewhere is
// lost with them. Results are in the order of the seeds, whatever order they came in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/run.h"

namespace witan::sim {

struct SeedRange {
  std::uint64_t first = 1, last = 1;  // both included
};

using SeedRunner = std::function<RunResult(std::uint64_t seed)>;

struct SeedResult {
  std::uint64_t seed = 0;
  std::uint64_t digest = 0;
  std::optional<Failure> failure;
};

struct JobsProgress {
  std::uint64_t done = 0, failed = 0, of = 0;
  Micros simulated = 0;
};

struct JobsOptions {
  unsigned jobs = 1;
  unsigned secondsPerSeed = 600;  // of wall time, then it is a "hang"; 0: no limit
  bool stopAtFailure = false;     // hand out no more seeds; the lowest that fails is among the results
  std::function<void(const JobsProgress&)> progress;                  // after every seed
  std::function<void(std::uint64_t seed, const RunResult&)> arrived;  // as they come
};

struct JobsResult {
  std::vector<SeedResult> seeds;  // those that ran
  Statistics total;
  std::map<std::string, std::uint64_t> probes;
  std::string digest;  // SHA-256 over all seeds and their digests, in hex
};

// Errors: no process or pipe to be had.
Result<JobsResult> runSeeds(const SeedRange& range, const SeedRunner& run, const JobsOptions& options);

// One run in a process of its own: what kills it is its failure.
Result<RunResult> runIsolated(const std::function<RunResult()>& run, unsigned seconds = 600);

}  // namespace witan::sim
