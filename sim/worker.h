// One worker process of sim/jobs.h: told seeds through one pipe, it answers through another; its words on stderr come
// through a third, because the last of them tells why it died.
//
// Belongs to the thread that made it; POSIX only. Destroying a Worker kills its process.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/jobs.h"

namespace witan::sim {

class Worker {
 public:
  // `others` are the running ones: the child closes what it inherits of them, else none would see the other's end.
  static Result<std::unique_ptr<Worker>> start(const SeedRunner& run, unsigned secondsPerSeed,
                                               const std::vector<std::unique_ptr<Worker>>& others);
  Worker(const Worker&) = delete;
  ~Worker();

  std::optional<std::uint64_t> busyWith() const { return seed_; }
  // Requires: not busy. False: it is dead, which the next step() tells.
  void give(std::uint64_t seed);

  // What to poll for, and what came: call after poll() said so.
  void watch(std::vector<pollfd>& fds) const;
  // The result of its seed, when there is one. A dead worker gives a failure, and is dead() afterwards.
  std::optional<RunResult> step();
  bool dead() const { return answers_ < 0; }

 private:
  Worker() = default;
  [[noreturn]] static void work(const SeedRunner& run, unsigned secondsPerSeed, int requests, int answers);
  std::optional<RunResult> takeAnswer();
  RunResult died();
  static void drain(int& fd, std::string& into);

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1, words_ = -1;
  std::optional<std::uint64_t> seed_;
  std::string answer_, said_;
};

}  // namespace witan::sim
