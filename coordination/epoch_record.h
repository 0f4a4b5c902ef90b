// What happened in one epoch: made by Run, written by LogWriter, read by tests. A plain value; requests are borrowed
// from strategies and setup, which outlive it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "coordination/admissibility.h"
#include "coordination/strategy.h"

namespace witan::kernel::joint {

WITAN_ENUM(Terminal, STATE_DEADLOCK, STATE_LIVELOCK, COLLAPSE, ORPHANING)

// What an agent was told of itself before it chose.
struct Observed {
  AgentIndex agent = 0;
  std::optional<Outcome> lastOutcome;
  const Request* lastAction = nullptr;
  std::string_view leak;  // a fault: words after the outcome that nobody must see
};

struct Submission {
  AgentIndex agent = 0;
  const Request* request = nullptr;
  FirstPass first = FirstPass::fail;
  bool second = false;  // pass 2; means nothing unless first == pass
  Outcome outcome = Outcome::JOINT_ADMISSIBILITY_FAILURE;
};

// Lists of agents ascend.
struct EpochRecord {
  std::uint32_t epoch = 0;
  std::vector<Observed> observed;
  std::vector<Message> heard;  // the messages of the last epoch, part of every observation
  std::vector<AgentIndex> exits;
  std::vector<Message> messages;
  std::vector<Submission> submissions;
  std::vector<AgentIndex> idle;                // active and without an action
  std::vector<std::pair<Key, Value>> changes;  // what the epoch made of the world, where it differs
};

}  // namespace witan::kernel::joint
