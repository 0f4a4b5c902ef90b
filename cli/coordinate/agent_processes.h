// AgentProcesses: external agents of a run of joint admissibility as programs of their own, one an agent and run,
// spoken with in JSON Lines (docs/coordination.md).
//
// A program that ends, is silent or says what cannot be read does nothing from there on, and error() says why. Blocks
// while it waits for an answer. The setup must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "coordination/strategy.h"
#include "net/loop.h"

namespace witan::node {

class AgentProcesses {
 public:
  static constexpr std::int64_t kAnswerMs = 10'000;
  static constexpr std::size_t kMostLine = 64 * 1024;

  AgentProcesses(const kernel::joint::Setup& setup, std::vector<std::string> command)
      : setup_(setup), command_(std::move(command)) {}
  AgentProcesses(const AgentProcesses&) = delete;

  // For coordinate(): starts a program for each agent and run.
  kernel::joint::Deciders deciders();
  // The first thing that went wrong.
  const std::optional<Error>& error() const { return error_; }

 private:
  class Agent;
  void fail(kernel::joint::AgentIndex agent, const std::string& what);

  const kernel::joint::Setup& setup_;
  std::vector<std::string> command_;
  net::Loop loop_;
  std::vector<std::shared_ptr<Agent>> running_;
  std::optional<Error> error_;
};

}  // namespace witan::node
