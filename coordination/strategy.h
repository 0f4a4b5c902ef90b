// Strategy: what an agent of a run does. Deterministic, with a memory of its own, and blind to everything but its
// observations (seed 001, A1, A3, FQ20, FQ31). The run calls observe, wantsToExit, composeMessage, proposeAction, in
// that order, once an epoch; after an exit never again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coordination/setup.h"

namespace witan::kernel::joint {

WITAN_ENUM(Outcome, EXECUTED, JOINT_ADMISSIBILITY_FAILURE, ACTION_FAULT, NO_ACTION)

struct Message {
  AgentIndex sender = 0;  // the run sets it, as it sets the epoch
  std::uint32_t epoch = 0;
  std::string content;  // a JSON object, canonical
};

// Valid during the call.
struct Observation {
  std::uint32_t epoch = 0;
  std::span<const Value> state;         // by key
  std::optional<Outcome> lastOutcome;   // its own; none at epoch 0
  const Request* lastAction = nullptr;  // its own of the last epoch; null when it did nothing
  std::span<const Message> messages;    // everybody's of the last epoch
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void observe(const Observation& observation) = 0;
  virtual bool wantsToExit() { return false; }
  virtual std::optional<std::string> composeMessage() { return std::nullopt; }
  // Lives as long as the strategy and its setup; null when the agent does nothing.
  virtual const Request* proposeAction() = 0;
};

// What an agent of the strategy hash_partition writes: "agent_1" writes "owned_by_1", what follows the last underscore,
// or the whole id if nothing does. Canonical JSON.
std::string ownedValue(std::string_view agentId);

// What an external agent does in an epoch: it leaves, or makes one of its choices (AgentSetup::choices), or nothing.
struct Decided {
  bool exits = false;
  std::optional<std::string> message;  // a JSON object, canonical
  std::optional<std::size_t> choice;   // below the number of its choices
};
// One external agent of one run. It is asked once an epoch, with all that an observation may tell.
using Decider = std::function<Decided(const Observation& observation)>;
// Makes the decider of an agent, once a run. What cannot answer any more answers with nothing, and its maker says why.
using Deciders = std::function<Decider(AgentIndex agent)>;

// The strategies of all agents of the setup, in their order. The setup must outlive them. Without `deciders` external
// agents do nothing.
std::vector<std::unique_ptr<Strategy>> makeStrategies(const Setup& setup, const Deciders& deciders = {});

}  // namespace witan::kernel::joint
