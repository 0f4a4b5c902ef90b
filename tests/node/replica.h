// Data directories of replicated data and the processes on them, for tests: one command, or two that talk over pipes
// whose bytes the test carries, counts and cuts.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::test {

class Replica {
 public:
  explicit Replica(std::string dir) : dir_(std::move(dir)) {}

  const std::string& dir() const { return dir_; }
  std::vector<std::string> words(std::vector<std::string> command) const {
    command.insert(command.end(), {"--dir", dir_});
    return command;
  }
  Finished run(std::vector<std::string> command, std::string_view input = {}) const {
    return runWitan(words(std::move(command)), input);
  }
  // As run(), and it must end well; what it printed.
  std::string ok(std::vector<std::string> command, std::string_view input = {}) const {
    const Finished done = run(std::move(command), input);
    EXPECT_EQ(done.exitCode, 0) << done.err;
    return done.out;
  }
  json::value asJson(std::vector<std::string> command) const {
    command.emplace_back("--json");
    const auto value = parseJson(ok(std::move(command)), {.bytes = 16 << 20});
    EXPECT_TRUE(value.ok());
    return value.ok() ? *value : json::value();
  }
  std::string writer() const { return std::string(asJson({"sync", "status"}).at("writer").as_string()); }
  std::string digests() const {
    std::string out;
    const json::value status = asJson({"sync", "status"});
    for (const json::value& space : status.at("spaces").as_array())
      out += std::string(space.at("space").as_string()) + "=" + std::string(space.at("digest").as_string()) + " " +
             std::to_string(space.at("count").to_number<int>()) + canonicalJson(space.at("vector")) + "\n";
    return out;
  }
  // The kinds of all incidents.
  std::vector<std::string> incidents() const {
    std::vector<std::string> out;
    const json::value status = asJson({"sync", "status"});
    for (const json::value& incident : status.at("incidents").as_array())
      out.emplace_back(incident.at("kind").as_string());
    return out;
  }
  void copyTo(const std::string& dir) const {
    std::filesystem::remove_all(dir);
    std::filesystem::copy(dir_, dir, std::filesystem::copy_options::recursive);
  }

 private:
  std::string dir_;
};

// Devices of one cluster in a scratch folder.
class Garden {
 public:
  Replica join(const std::string& device) {
    Replica replica(scratch_ / device);
    std::vector<std::string> words{"device", "init", "--device", device};
    if (!first_.empty())
      words.insert(words.end(), {"--cluster", cluster_, "--key-file", scratch_ / (first_ + "/cluster.key")});
    const json::value made = replica.asJson(words);
    if (first_.empty()) first_ = device, cluster_ = std::string(made.at("cluster").as_string());
    return replica;
  }
  std::string operator/(const std::string& name) const { return scratch_ / name; }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
  std::string first_, cluster_;
};

struct Talked {
  Finished a, b;
  std::size_t bytes = 0;  // carried, both ways
};

struct TalkOptions {
  std::vector<std::string> a, b;       // further words of either's command
  std::size_t most = ~std::size_t{0};  // bytes after which the stream dies
  bool killA = false;                  // and a with it, by SIGKILL
};

// `witan sync pipe` on both, joined by pipes.
class Wire {
 public:
  Wire(const Replica& a, const Replica& b, TalkOptions options) : options_(std::move(options)) {
    a_ = start(a, options_.a, fromA_, toA_);
    b_ = start(b, options_.b, fromB_, toB_);
  }
  ~Wire() { cut(); }
  Wire(const Wire&) = delete;

  Talked run() {
    Talked talked;
    while ((fromA_ >= 0 || fromB_ >= 0) && bytes_ < options_.most) {
      pollfd fds[2] = {{fromA_, POLLIN, 0}, {fromB_, POLLIN, 0}};
      if (poll(fds, 2, 120'000) <= 0) break;
      if (fds[0].revents != 0) carry(fromA_, toB_);
      if (fds[1].revents != 0) carry(fromB_, toA_);
    }
    if (options_.killA && bytes_ >= options_.most) a_->kill();
    cut();
    talked.a = a_->finish();
    talked.b = b_->finish();
    talked.bytes = bytes_;
    return talked;
  }

 private:
  // `from`: where its output can be read; `to`: where its input is written.
  static std::unique_ptr<Child> start(const Replica& replica, const std::vector<std::string>& further, int& from,
                                      int& to) {
    int in[2], out[2];
    WITAN_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "two pipes");
    std::vector<std::string> words = replica.words({"sync", "pipe"});
    words.insert(words.end(), further.begin(), further.end());
    auto child = std::make_unique<Child>(words, [&] {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
    });
    close(in[0]);
    close(out[1]);
    from = out[0];
    to = in[1];
    return child;
  }
  void carry(int& from, int& to) {
    char buffer[512];
    const ssize_t got = read(from, buffer, std::min(sizeof buffer, options_.most - bytes_));
    if (got <= 0) {
      shut(from);
      shut(to);
      return;
    }
    bytes_ += static_cast<std::size_t>(got);
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    if (to >= 0 && write(to, buffer, static_cast<std::size_t>(got)) != got) shut(to);
    ::signal(SIGPIPE, before);
  }
  void cut() {
    for (int* fd : {&fromA_, &toA_, &fromB_, &toB_}) shut(*fd);
  }
  static void shut(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }

  const TalkOptions options_;
  int fromA_ = -1, toA_ = -1, fromB_ = -1, toB_ = -1;
  std::unique_ptr<Child> a_, b_;
  std::size_t bytes_ = 0;
};

inline Talked talk(const Replica& a, const Replica& b, TalkOptions options = {}) {
  return Wire(a, b, std::move(options)).run();
}

// A whole session that must end well.
inline void meet(const Replica& a, const Replica& b) {
  const Talked talked = talk(a, b);
  EXPECT_EQ(talked.a.exitCode, 0) << talked.a.err;
  EXPECT_EQ(talked.b.exitCode, 0) << talked.b.err;
}

}  // namespace witan::node::test
