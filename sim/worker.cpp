#include "sim/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "sim/run_result_text.h"

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

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(const SeedRunner& run, unsigned secondsPerSeed,
                                              const std::vector<std::unique_ptr<Worker>>& others) {
  std::unique_ptr<Worker> worker(new Worker);
  int requests[2] = {-1, -1}, answers[2] = {-1, -1}, words[2] = {-1, -1};
  const auto closeAll = [&] {
    for (int* pair : {requests, answers, words})
      for (int i = 0; i < 2; ++i) shut(pair[i]);
  };
  if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0 || pipe2(words, O_CLOEXEC) != 0) {
    closeAll();
    return ioFailed("no pipe for a worker (" + std::string(std::strerror(errno)) + ")", "try fewer --jobs");
  }
  worker->pid_ = fork();
  if (worker->pid_ < 0) {
    closeAll();
    return ioFailed("no process for a worker (" + std::string(std::strerror(errno)) + ")", "try fewer --jobs");
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

Worker::~Worker() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (int* fd : {&requests_, &answers_, &words_}) shut(*fd);
}

// Ends with the parent: the pipe of requests does.
void Worker::work(const SeedRunner& run, unsigned secondsPerSeed, int requests, int answers) {
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

void Worker::give(std::uint64_t seed) {
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

void Worker::watch(std::vector<pollfd>& fds) const {
  fds.push_back({answers_, POLLIN, 0});
  fds.push_back({words_, POLLIN, 0});
}

void Worker::drain(int& fd, std::string& into) {
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

std::optional<RunResult> Worker::step() {
  drain(words_, said_);
  if (said_.size() > 2 * kMostWords) said_.erase(0, said_.size() - kMostWords);
  drain(answers_, answer_);
  if (auto result = takeAnswer()) return result;
  if (!dead()) return std::nullopt;
  drain(words_, said_);
  return died();
}

std::optional<RunResult> Worker::takeAnswer() {
  const auto end = answer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto result = readRunResult(std::string_view(answer_).substr(0, end));
  WITAN_CHECK(result.ok(), "a worker answers in the form of run_result_text.h: " + result.error().message);
  answer_.erase(0, end + 1);
  seed_.reset();
  return *std::move(result);
}

RunResult Worker::died() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  RunResult result;
  if (!seed_) return result;
  seed_.reset();
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  std::string reason = lastLine(said_);
  if (reason.empty())
    reason = signal != 0 ? strsignal(signal) : "ended with code " + std::to_string(WEXITSTATUS(status));
  if (signal == SIGALRM)
    result.failure = Failure{"hang", "the run did not end in time", 0};
  else
    result.failure = Failure{signal == SIGABRT ? "assertion" : "crash", std::move(reason), 0};
  return result;
}

}  // namespace witan::sim
