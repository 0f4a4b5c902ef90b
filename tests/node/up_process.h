// `witan up` as a process: a device with a data directory, spoken to over its control API and by the command line.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "node/control_client.h"
#include "tests/node/process.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::testing {

class DaemonProcess {
 public:
  // `config`: more of witan.toml.
  DaemonProcess(std::string name, const std::string& config) : name_(std::move(name)) {
    std::filesystem::create_directories(dir());
    scratch_.write("data/witan.toml", "[node]\nlisten = [\"" + address_ + "\"]\n" + config);
  }

  std::string dir() const { return scratch_ / "data"; }
  std::string log() const { return scratch_ / "log"; }
  const std::string& name() const { return name_; }

  // As the command line: `witan WORDS --dir DIR`.
  Finished witan(std::vector<std::string> words) const {
    words.insert(words.end(), {"--dir", dir()});
    return runWitan(words);
  }
  bool init(std::uint32_t partitions) const {
    return witan({"init", "--name", name_, "--listen", address_, "--partitions", std::to_string(partitions)})
               .exitCode == 0;
  }
  // Of the cluster of a running one.
  bool join(const DaemonProcess& other) const {
    std::string token = other.witan({"device", "invite", "--ttl", "5m"}).out;
    token.resize(token.find_last_not_of("\n") + 1);
    return witan({"join", token, "--name", name_, "--listen", address_}).exitCode == 0;
  }

  // Whether it came up.
  bool start() {
    process_.emplace(std::vector<std::string>{WITAN_BINARY, "up", "--dir", dir()}, log());
    return until([&] { return get("/v1/status").is_object() || !process_->running(); }) && process_->running();
  }
  void kill() { process_.reset(); }
  void freeze() { process_->signal(SIGSTOP); }
  void thaw() { process_->signal(SIGCONT); }
  // In good order; the exit code.
  int stop() {
    const int status = process_->end(SIGTERM);
    process_.reset();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  bool running() const { return process_.has_value(); }

  // Null: no answer.
  json::value get(const std::string& target) const {
    const auto client = ControlClient::open(dir());
    if (!client.ok()) return nullptr;
    const auto answer = client->get(target);
    return answer.ok() ? *answer : json::value(nullptr);
  }
  Result<json::value> post(const std::string& path, const json::object& body) const {
    const auto client = ControlClient::open(dir());
    if (!client.ok()) return client.error();
    return client->post(path, body, 60'000);
  }
  // Of /metrics; -1: none.
  double metric(const std::string& name) const {
    const auto client = ControlClient::open(dir());
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
  std::string check(std::string_view name) const {
    const json::value status = get("/v1/status");
    if (status.is_object())
      for (const json::value& check : status.at("checks").as_array())
        if (check.at("name").as_string() == name) return std::string(check.at("what").as_string());
    return "";
  }

 private:
  const std::string name_;
  const std::string address_ = "127.0.0.1:" + std::to_string(freePort());
  Scratch scratch_;
  std::optional<Process> process_;
};

}  // namespace witan::node::testing
