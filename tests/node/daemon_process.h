// Nodes as people run them: processes with their own directories, on loopback, started and stopped by the test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::testing {

// A port that nobody has now.
inline std::string freeAddress() {
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

inline std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Asks again and again until it is so; false after `seconds`.
template <class Condition>
bool eventually(Condition condition, int seconds = 60) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class Node {
 public:
  Node(const Scratch& scratch, std::string name)
      : name_(std::move(name)), dir_(scratch / name_), address_(freeAddress()) {}
  Node(const Node&) = delete;
  ~Node() {
    if (pid_ > 0) kill();
  }

  const std::string& name() const { return name_; }
  const std::string& dir() const { return dir_; }
  const std::string& address() const { return address_; }
  pid_t pid() const { return pid_; }
  std::string log() const { return contentOf(dir_ + ".log"); }

  // `witan WORDS --dir DIR`.
  Finished run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--dir", dir_});
    return runWitan(words);
  }
  json::value runJson(std::vector<std::string> words) const {
    words.push_back("--json");
    const Finished done = run(std::move(words));
    auto parsed = parseJson(done.out, {.bytes = 64 << 20, .depth = 64});
    return parsed.ok() ? *parsed : json::value{{"failed", done.err}};
  }

  Finished init() const { return run({"init", "--name", name_, "--listen", address_}); }
  Finished join(const std::string& token) const { return run({"join", token, "--name", name_, "--listen", address_}); }
  // Its token, or what went wrong.
  std::string invite(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"device", "invite", "--ttl", "5m"};
    words.insert(words.end(), more.begin(), more.end());
    Finished made = run(words);
    while (!made.out.empty() && made.out.back() == '\n') made.out.pop_back();
    return made.exitCode == 0 ? made.out : made.err;
  }

  // Starts the daemon. Whether it got ready.
  bool up(const std::vector<std::string>& more = {}) {
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
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    return eventually([&] { return ended() || run({"status"}).exitCode == 0; }) && !ended();
  }
  bool waitUntil(const std::string& state) const {
    return run({"status", "--wait", state, "--timeout", "60"}).exitCode == 0;
  }
  // SIGTERM; its exit code.
  int stop() { return finish(SIGTERM); }
  void kill() { (void)finish(SIGKILL); }
  void signal(int number) const { ::kill(pid_, number); }

 private:
  bool ended() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return pid_ <= 0;
    pid_ = -1;
    return true;
  }
  int finish(int number) {
    if (pid_ <= 0) return -1;
    ::kill(pid_, number);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string name_, dir_, address_;
  pid_t pid_ = -1;
};

// A cluster of one that runs.
inline bool begin(Node& node, const std::vector<std::string>& upOptions = {}) {
  return node.init().exitCode == 0 && node.up(upOptions);
}
// One more member, running and connected to everybody.
inline bool enrol(const Node& founder, Node& node, const std::vector<std::string>& inviteOptions = {},
                  const std::vector<std::string>& upOptions = {}) {
  return node.join(founder.invite(inviteOptions)).exitCode == 0 && node.up(upOptions) && node.waitUntil("connected");
}

}  // namespace witan::node::testing
