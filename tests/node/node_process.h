// A node as people run it: `witan up` as a process with a directory of its own, on loopback; spoken to by the command
// line and over its control API. Ends with the test. Scratch outlives it.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/client/control_client.h"
#include "tests/node/process.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::test {

inline std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Node {
 public:
  // `config`: more of witan.toml than the address; empty: `init` and `join` write the file.
  Node(const Scratch& scratch, std::string name, const std::string& config = {})
      : name_(std::move(name)), dir_(scratch / name_) {
    if (config.empty()) return;
    std::filesystem::create_directories(dir_);
    std::filesystem::permissions(dir_, std::filesystem::perms::owner_all);
    scratch.write(name_ + "/witan.toml", "[node]\nlisten = [\"" + address_ + "\"]\n" + config);
  }
  Node(const Node&) = delete;

  const std::string& name() const { return name_; }
  const std::string& dir() const { return dir_; }
  const std::string& address() const { return address_; }
  std::string log() const { return contentOf(dir_ + ".log"); }

  // ---- the command line: `witan WORDS --dir DIR`
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
  Finished init(unsigned partitions = 8, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"init", "--name", name_, "--partitions", std::to_string(partitions)};
    words.insert(words.end(), {"--listen", address_});
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  // A token, or what went wrong.
  std::string invite(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"device", "invite", "--ttl", "5m"};
    if (std::ranges::find(more, "--role") == more.end())
      words.insert(words.end(), {"--role", "ledger", "--role", "takeover", "--role", "*"});
    words.insert(words.end(), more.begin(), more.end());
    Finished made = run(words);
    while (!made.out.empty() && made.out.back() == '\n') made.out.pop_back();
    return made.exitCode == 0 ? made.out : made.err;
  }
  Finished join(const std::string& token, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"join", token, "--name", name_, "--listen", address_};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  // Of the cluster of a running one.
  bool joins(const Node& founder) const { return join(founder.invite()).exitCode == 0; }
  bool waitUntil(const std::string& state) const {
    return run({"status", "--wait", state, "--timeout", "90"}).exitCode == 0;
  }

  // ---- the process
  // `prepare`: in the child, before it becomes the program. Whether it got ready.
  bool up(const std::vector<std::string>& more = {}, const std::function<void()>& prepare = {}) {
    std::vector<std::string> words{witan::tests::kProgram, "up", "--dir", dir_};
    words.insert(words.end(), more.begin(), more.end());
    process_.emplace(words, dir_ + ".log", prepare);
    return until([&] { return !process_->running() || get("/v1/status").is_object(); }) && process_->running();
  }
  bool running() { return process_ && process_->running(); }
  pid_t pid() const { return process_ ? process_->pid() : -1; }
  void signal(int number) { process_->signal(number); }
  void freeze() { signal(SIGSTOP); }
  void thaw() { signal(SIGCONT); }
  void kill() { (void)stop(SIGKILL); }
  // Its exit code; 128 and the signal that ended it; -1: it did not run.
  int stop(int number = SIGTERM) {
    const int status = process_ ? process_->end(number) : -1;
    process_.reset();
    return status == -1 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // ---- the control API
  // Null: no answer.
  json::value get(const std::string& target) const {
    const auto client = ControlClient::open(dir_);
    if (!client.ok()) return nullptr;
    const auto answer = client->get(target);
    return answer.ok() ? *answer : json::value(nullptr);
  }
  Result<json::value> post(const std::string& path, const json::object& body) const {
    const auto client = ControlClient::open(dir_);
    if (!client.ok()) return client.error();
    return client->post(path, body, 60'000);
  }
  // Of /metrics; -1: none.
  double metric(const std::string& name) const {
    const auto client = ControlClient::open(dir_);
    const auto text = client.ok() ? client->text("/metrics") : Result<std::string>(std::string());
    const std::size_t at = text.ok() ? text->find("\nwitan_" + name + " ") : std::string::npos;
    return at == std::string::npos ? -1 : std::strtod(text->c_str() + at + name.size() + 8, nullptr);
  }
  bool connectedTo(std::size_t peers) const {
    const json::value status = get("/v1/status");
    return status.is_object() && status.at("peers").at("connected").to_number<std::size_t>() == peers;
  }
  // Partitions decided here.
  std::size_t owned() const {
    const json::value status = get("/v1/status");
    return status.is_object() ? status.at("partitions").at("owned").to_number<std::size_t>() : 0;
  }
  // What /readyz says, by its status.
  bool ready() const {
    const auto client = ControlClient::open(dir_);
    return client.ok() && client->text("/readyz").ok();
  }
  // What a check says of itself, and what it tells to do; empty: there is no such check, or nothing to do.
  std::string check(std::string_view name) const { return ofCheck(name, "what"); }
  std::string todo(std::string_view name) const { return ofCheck(name, "todo"); }

 private:
  std::string ofCheck(std::string_view name, std::string_view member) const {
    const json::value status = get("/v1/status");
    if (status.is_object())
      for (const json::value& check : status.at("checks").as_array())
        if (const json::value& text = check.at(member); check.at("name").as_string() == name && text.is_string())
          return std::string(text.as_string());
    return "";
  }

  const std::string name_, dir_;
  const std::string address_ = freeAddress();
  std::optional<Process> process_;
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

}  // namespace witan::node::test
