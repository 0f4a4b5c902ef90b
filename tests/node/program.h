// Runs the witan program as people do: a process with its own streams. Nothing waits for time to pass: a child is
// waited for until it ends, and one that does not within kHang is killed and reported.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

#include "tests/paths.h"

namespace witan::node::test {

inline constexpr std::chrono::seconds kHang{300};

struct Finished {
  int exitCode = -1;
  int signal = 0;
  bool hung = false;
  std::string out;
  std::string err;
};

class Child {
 public:
  // `prepare` runs in the child before it becomes the program: async-signal-safe calls only.
  explicit Child(const std::vector<std::string>& words, const std::function<void()>& prepare = {}) {
    std::vector<char*> argv;
    std::string program = witan::tests::kProgram;
    std::vector<std::string> kept = words;
    argv.push_back(program.data());
    for (std::string& word : kept) argv.push_back(word.data());
    argv.push_back(nullptr);
    int in[2], out[2], err[2];
    WITAN_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "three pipes");
    pid_ = fork();
    WITAN_CHECK(pid_ >= 0, "a child");
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      ::signal(SIGPIPE, SIG_DFL);
      if (prepare) prepare();
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
    for (const int fd : {in_, out_, err_}) fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  Child(const Child&) = delete;
  ~Child() {
    if (!reaped_) {
      kill();
      wait();
    }
    closeInput();
    closeOutput();
    shut(err_);
  }

  // Feeds `input` in pieces of `piece()` bytes (0: as much as fits) and collects the output. `ended` is asked after
  // every step with all answers so far: true stops the pumping, and the child is left running.
  using Piece = std::function<std::size_t()>;
  using Ended = std::function<bool(const std::string& out)>;
  void pump(std::string_view input, const Piece& piece = {}, const Ended& ended = {},
            std::chrono::microseconds patience = kHang) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (out_ >= 0 || err_ >= 0) {
      if (ended && ended(finished_.out)) return;
      if (input.empty() && closesInput_) closeInput();
      pollfd fds[3] = {{input.empty() ? -1 : in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
      const auto left =
          std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - std::chrono::steady_clock::now()).count();
      const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
      if (left <= 0 || ppoll(fds, 3, &wait, nullptr) == 0) {
        finished_.hung = patience == kHang;
        return;
      }
      if (fds[0].revents != 0) feed(input, piece ? piece() : input.size());
      if (fds[1].revents != 0) drain(out_, finished_.out);
      if (fds[2].revents != 0) drain(err_, finished_.err);
    }
  }

  // More input is to come after the next pump.
  void keepInput() { closesInput_ = false; }
  void kill() { ::kill(pid_, SIGKILL); }
  void closeInput() { shut(in_); }
  void closeOutput() { shut(out_); }

  // After the end of the child: everything it wrote.
  Finished wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    while (out_ >= 0 && drain(out_, finished_.out)) {
    }
    while (err_ >= 0 && drain(err_, finished_.err)) {
    }
    if (WIFEXITED(status)) finished_.exitCode = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) finished_.signal = WTERMSIG(status);
    return std::move(finished_);
  }

  Finished finish(std::string_view input = {}) {
    closesInput_ = true;
    pump(input);
    if (finished_.hung) kill();
    return wait();
  }

 private:
  static void shut(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  void feed(std::string_view& input, std::size_t piece) {
    struct Quiet {  // a child that went away is no end of ours
      Quiet() : before(::signal(SIGPIPE, SIG_IGN)) {}
      ~Quiet() { ::signal(SIGPIPE, before); }
      void (*before)(int);
    } quiet;
    const ssize_t put = write(in_, input.data(), std::min(std::max<std::size_t>(piece, 1), input.size()));
    if (put > 0)
      input.remove_prefix(static_cast<std::size_t>(put));
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
      input = {};
  }
  // False when nothing more is there now.
  static bool drain(int& fd, std::string& into) {
    char buffer[65536];
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) shut(fd);
    return got > 0;
  }

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool reaped_ = false;
  bool closesInput_ = true;
  Finished finished_;
};

inline Finished runWitan(const std::vector<std::string>& words, std::string_view input = {},
                         const std::function<void()>& prepare = {}) {
  return Child(words, prepare).finish(input);
}

}  // namespace witan::node::test
