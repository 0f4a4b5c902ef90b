// Programs that run beside a test: started, signalled, waited for. Their words go into a file. Nothing waits for time
// to pass: until() asks again until it is so, and gives up.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"

namespace witan::node::test {

// Whether it came true.
inline bool until(const std::function<bool()>& so, std::chrono::seconds patience = std::chrono::seconds(90)) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!so()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// A port of 127.0.0.1 that nobody has just now, and that no outgoing connection of another test gets before it is used:
// those come from 32768 on.
inline std::uint16_t freePort() {
  static std::atomic<unsigned> drawn{static_cast<unsigned>(getpid()) * 131};
  for (int tries = 0; tries < 1'000; ++tries) {
    const auto port = static_cast<std::uint16_t>(10'000 + drawn++ % 22'000);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    WITAN_CHECK(fd >= 0, "a socket");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free = bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
    close(fd);
    if (free) return port;
  }
  WITAN_CHECK(false, "a port");
  return 0;
}

inline std::string freeAddress() { return "127.0.0.1:" + std::to_string(freePort()); }

class Process {
 public:
  // Ends with the thread that made it, however that ends. `prepare` runs in the child before it becomes the program.
  Process(std::vector<std::string> words, const std::string& log, const std::function<void()>& prepare = {}) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    WITAN_CHECK(pid_ >= 0, "a child");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    const int in = open("/dev/null", O_RDONLY);
    dup2(in, STDIN_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // sockets of the test's other threads
    if (prepare) prepare();
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Process(const Process&) = delete;
  ~Process() { end(SIGKILL); }

  pid_t pid() const { return pid_; }
  void signal(int which) {
    if (pid_ > 0) ::kill(pid_, which);
  }
  // As waitpid() has it, also if it had ended by itself.
  int end(int which) {
    if (pid_ <= 0) return status_;
    signal(which);
    if (which == SIGKILL) signal(SIGCONT);
    while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }
  bool running() {
    if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ > 0;
  }

 private:
  pid_t pid_ = -1;
  int status_ = -1;
};

}  // namespace witan::node::test
