#include "sim/jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/sha256.h"
#include "sim/run.h"

namespace witan::sim {

namespace {

// True if all of it went through.
bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool readAll(int fd, char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(fd, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void shut(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// The last line that says something, without what every CHECK begins with.
std::string lastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto from = text.rfind('\n');
  return from == std::string::npos ? text : text.substr(from + 1);
}

constexpr std::size_t kMostWords = 64 * 1024;

// A worker process: told seeds through one pipe, it answers through another; its words on stderr come through a third,
// because the last of them tells why it died. Belongs to the thread that made it. Destroying it kills the process.
class Worker {
 public:
  // `others` are the running ones: the child closes what it inherits of them, else none would see the other's end.
  static Result<std::unique_ptr<Worker>> start(const SeedRunner& run, unsigned secondsPerSeed,
                                               const std::vector<std::unique_ptr<Worker>>& others) {
    std::unique_ptr<Worker> worker(new Worker);
    int requests[2] = {-1, -1}, answers[2] = {-1, -1}, words[2] = {-1, -1};
    const auto closeAll = [&] {
      for (int* pair : {requests, answers, words})
        for (int i = 0; i < 2; ++i) shut(pair[i]);
    };
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0) {
      closeAll();
      return ioFailed(concat("no pipe for a worker (", std::strerror(errno), ")"), "try fewer --jobs");
    }
    worker->pid_ = fork();
    if (worker->pid_ < 0) {
      closeAll();
      return ioFailed(concat("no process for a worker (", std::strerror(errno), ")"), "try fewer --jobs");
    }
    if (worker->pid_ == 0) {
      for (const auto& other : others)
        for (int* fd : {&other->requests_, &other->answers_, &other->words_}) shut(*fd);
      dup2(words[1], STDERR_FILENO);
      for (int fd : {requests[1], answers[0], words[0], words[1]}) close(fd);
      work(run, secondsPerSeed, requests[0], answers[1]);
    }
    worker->requests_ = std::exchange(requests[1], -1);
    worker->answers_ = std::exchange(answers[0], -1);
    worker->words_ = std::exchange(words[0], -1);
    closeAll();
    for (const int fd : {worker->answers_, worker->words_}) fcntl(fd, F_SETFL, O_NONBLOCK);
    return worker;
  }

  Worker(const Worker&) = delete;

  ~Worker() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    for (int* fd : {&requests_, &answers_, &words_}) shut(*fd);
  }

  std::optional<std::uint64_t> busyWith() const { return seed_; }
  // Requires: not busy. False: it is dead, which the next step() tells.
  void give(std::uint64_t seed) {
    WITAN_CHECK(!seed_, "a worker has one seed at a time");
    seed_ = seed;
    said_.clear();
    struct Quiet {  // a worker that died is no end of ours
      Quiet() : before(::signal(SIGPIPE, SIG_IGN)) {}
      ~Quiet() { ::signal(SIGPIPE, before); }
      void (*before)(int);
    } quiet;
    writeAll(requests_, {reinterpret_cast<const char*>(&seed), sizeof seed});
  }

  // What to poll for, and what came: call after poll() said so.
  void watch(std::vector<pollfd>& fds) const {
    fds.push_back({answers_, POLLIN, 0});
    fds.push_back({words_, POLLIN, 0});
  }

  // The result of its seed, when there is one. A dead worker gives a failure, and is dead() afterwards.
  std::optional<RunResult> step() {
    drain(words_, said_);
    if (said_.size() > 2 * kMostWords) said_.erase(0, said_.size() - kMostWords);
    drain(answers_, answer_);
    if (auto result = takeAnswer()) return result;
    if (!dead()) return std::nullopt;
    drain(words_, said_);
    return died();
  }

  bool dead() const { return answers_ < 0; }

 private:
  Worker() = default;

  // Ends with the parent: the pipe of requests does.
  [[noreturn]] static void work(const SeedRunner& run, unsigned secondsPerSeed, int requests, int answers) {
    ::signal(SIGALRM, SIG_DFL);
    ::signal(SIGPIPE, SIG_IGN);
    std::uint64_t seed = 0;
    while (readAll(requests, reinterpret_cast<char*>(&seed), sizeof seed)) {
      alarm(secondsPerSeed);
      const std::string text = writeRunResult(run(seed));
      alarm(0);
      if (!writeAll(answers, text + "\n")) break;
    }
    _exit(0);
  }

  std::optional<RunResult> takeAnswer() {
    const auto end = answer_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    auto result = readRunResult(std::string_view(answer_).substr(0, end));
    WITAN_CHECK(result.ok(), "a worker answers in the form of sim/run.h: " + result.error().message);
    answer_.erase(0, end + 1);
    seed_.reset();
    return *std::move(result);
  }

  RunResult died() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    RunResult result;
    if (!seed_) return result;
    seed_.reset();
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::string reason = lastLine(said_);
    if (reason.empty()) reason = signal != 0 ? strsignal(signal) : concat("ended with code ", WEXITSTATUS(status));
    if (signal == SIGALRM)
      result.failure = Failure{"hang", "the run did not end in time", 0};
    else
      result.failure = Failure{signal == SIGABRT ? "assertion" : "crash", std::move(reason), 0};
    return result;
  }

  static void drain(int& fd, std::string& into) {
    char buffer[16 * 1024];
    while (fd >= 0) {
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0)
        shut(fd);
      else
        into.append(buffer, static_cast<std::size_t>(got));
    }
  }

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1, words_ = -1;
  std::optional<std::uint64_t> seed_;
  std::string answer_, said_;
};

Status pollAll(std::vector<pollfd>& fds) {
  while (poll(fds.data(), fds.size(), -1) < 0)
    if (errno != EINTR) return ioFailed(concat("cannot wait for the workers (", std::strerror(errno), ")"));
  return okStatus();
}

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
    return pollAll(fds);
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
    forEachMember<Statistics>(
        [&](auto member, auto) { out_.total.*member.pointer += result.statistics.*member.pointer; });
    for (const auto& [name, count] : result.probes) out_.probes[name] += count;
    if (options_.arrived) options_.arrived(seed, result);
    if (options_.progress)
      options_.progress({out_.seeds.size(), failed_, range_.last - range_.first + 1, out_.total.simulated});
  }

  void finish() {
    std::ranges::sort(out_.seeds, [](const SeedResult& a, const SeedResult& b) { return a.seed < b.seed; });
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
    WITAN_DO(pollAll(fds));
    if (auto result = worker->step()) return *std::move(result);
  }
}

}  // namespace witan::sim
