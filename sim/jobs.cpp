#include "sim/jobs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/sha256.h"
#include "sim/run_result_text.h"
#include "sim/worker.h"

namespace witan::sim {

namespace {

class Pool {
 public:
  Pool(const SeedRange& range, const SeedRunner& run, const JobsOptions& options)
      : range_(range), run_(run), options_(options), next_(range.first) {}

  Result<JobsResult> work() {
    while (true) {
      WITAN_DO(feed());
      if (workers_.empty()) break;
      WITAN_DO(wait());
      collect();
    }
    finish();
    return std::move(out_);
  }

 private:
  bool moreToDo() const { return !(exhausted_ || (options_.stopAtFailure && failed_ > 0)); }

  std::uint64_t takeSeed() {
    const std::uint64_t seed = next_;
    if (seed == range_.last)
      exhausted_ = true;
    else
      ++next_;
    return seed;
  }

  // Every worker has a seed, or is not needed any more.
  Status feed() {
    for (auto& worker : workers_)
      if (!worker->busyWith() && moreToDo()) worker->give(takeSeed());
    std::erase_if(workers_, [](const auto& worker) { return !worker->busyWith(); });
    while (workers_.size() < std::max(options_.jobs, 1U) && moreToDo()) {
      WITAN_TRY(worker, Worker::start(run_, options_.secondsPerSeed, workers_));
      worker->give(takeSeed());
      workers_.push_back(std::move(worker));
    }
    return okStatus();
  }

  Status wait() {
    std::vector<pollfd> fds;
    for (const auto& worker : workers_) worker->watch(fds);
    while (poll(fds.data(), fds.size(), -1) < 0)
      if (errno != EINTR) return ioFailed("cannot wait for the workers (" + std::string(std::strerror(errno)) + ")");
    return okStatus();
  }

  void collect() {
    for (auto& worker : workers_) {
      const auto seed = worker->busyWith();
      if (const auto result = worker->step(); result && seed) take(*seed, *result);
    }
    std::erase_if(workers_, [](const auto& worker) { return worker->dead(); });
  }

  void take(std::uint64_t seed, const RunResult& result) {
    out_.seeds.push_back({seed, result.digest, result.failure});
    if (result.failure) ++failed_;
    Statistics& t = out_.total;
    const Statistics& s = result.statistics;
    t.steps += s.steps;
    t.frames += s.frames;
    t.bytes += s.bytes;
    t.decisions += s.decisions;
    t.commits += s.commits;
    t.crashes += s.crashes;
    t.simulated += s.simulated;
    for (const auto& [name, count] : result.probes) out_.probes[name] += count;
    if (options_.progress) options_.progress({out_.seeds.size(), failed_, range_.last - range_.first + 1, t.simulated});
  }

  void finish() {
    std::sort(out_.seeds.begin(), out_.seeds.end(),
              [](const SeedResult& a, const SeedResult& b) { return a.seed < b.seed; });
    Sha256 hash;
    for (const SeedResult& s : out_.seeds) hash.update(hexDigest(s.seed)).update(hexDigest(s.digest));
    const Hash digest = hash.finish();
    for (const std::uint8_t byte : digest) out_.digest += hexDigest(byte).substr(14);
  }

  const SeedRange range_;
  const SeedRunner& run_;
  const JobsOptions& options_;
  std::uint64_t next_;
  bool exhausted_ = false;
  std::uint64_t failed_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  JobsResult out_;
};

}  // namespace

Result<JobsResult> runSeeds(const SeedRange& range, const SeedRunner& run, const JobsOptions& options) {
  WITAN_CHECK(range.first <= range.last, "a range of seeds has one");
  return Pool(range, run, options).work();
}

Result<RunResult> runIsolated(const std::function<RunResult()>& run, unsigned seconds) {
  const SeedRunner runner = [&](std::uint64_t) { return run(); };
  WITAN_TRY(worker, Worker::start(runner, seconds, {}));
  worker->give(0);
  while (true) {
    std::vector<pollfd> fds;
    worker->watch(fds);
    while (poll(fds.data(), fds.size(), -1) < 0)
      if (errno != EINTR) return ioFailed("cannot wait for the run (" + std::string(std::strerror(errno)) + ")");
    if (auto result = worker->step()) return *std::move(result);
  }
}

}  // namespace witan::sim
