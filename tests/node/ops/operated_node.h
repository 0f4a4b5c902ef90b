// A node as an operator runs it: its own process and directory, on loopback, started, asked and stopped by the test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::testing {

inline std::string loopbackAddress() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  WITAN_CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0, "a free port");
  WITAN_CHECK(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0, "its number");
  ::close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

inline std::string fileContent(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class Condition>
bool becomesTrue(Condition condition, int seconds = 90) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class OperatedNode {
 public:
  OperatedNode(const Scratch& scratch, std::string name)
      : name_(std::move(name)), dir_(scratch / name_), address_(loopbackAddress()) {}
  OperatedNode(const OperatedNode&) = delete;
  ~OperatedNode() { (void)stop(SIGKILL); }

  const std::string& dir() const { return dir_; }
  const std::string& address() const { return address_; }
  std::string log() const { return fileContent(dir_ + ".log"); }
  pid_t pid() const { return pid_; }

  Finished run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--dir", dir_});
    return runWitan(words);
  }
  json::value runJson(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const Finished done = run(std::move(words));
    auto parsed = parseJson(done.out, {.bytes = 64 << 20, .depth = 64});
    return parsed.ok() ? *parsed : json::value{{"failed", done.err}};
  }
  Finished init() const { return run({"init", "--name", name_, "--listen", address_, "--partitions", "2"}); }
  bool joins(const OperatedNode& founder) const {
    Finished token = founder.run({"device", "invite"});
    while (!token.out.empty() && token.out.back() == '\n') token.out.pop_back();
    return run({"join", token.out, "--name", name_, "--listen", address_}).exitCode == 0;
  }
  // `prepare`: in the child, before it becomes the program. Whether it got ready.
  bool up(const std::vector<std::string>& more = {}, const std::function<void()>& prepare = {}) {
    std::vector<std::string> words{WITAN_BINARY, "up", "--dir", dir_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string logFile = dir_ + ".log";
    pid_ = ::fork();
    if (pid_ == 0) {
      const int log = ::open(logFile.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(log, STDERR_FILENO);
      ::dup2(log, STDOUT_FILENO);
      if (prepare) prepare();
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    return becomesTrue([&] { return ended() || run({"status"}).exitCode == 0; }) && !ended();
  }
  bool reaches(const std::string& state) const {
    return run({"status", "--wait", state, "--timeout", "90"}).exitCode == 0;
  }
  // Its exit code; 128 and the signal that ended it.
  int stop(int number = SIGTERM) {
    if (pid_ <= 0) return -1;
    ::kill(pid_, number);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void signal(int number) const { ::kill(pid_, number); }

 private:
  bool ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

  std::string name_, dir_, address_;
  pid_t pid_ = -1;
};

}  // namespace witan::node::testing
