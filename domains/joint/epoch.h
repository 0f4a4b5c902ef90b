// One epoch of a commons, adjudicated: from the domain's words to coordination and back. Pure; used by CloseEpoch.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domains/joint/joint.h"

namespace witan::domains::joint {

struct EpochInput {
  struct Authority {
    std::string id, holder;
    Commitment commitment = Commitment::ALLOW;
    std::vector<std::string> reads, writes;
  };
  struct Agent {
    std::string id;
    bool active = false;
    std::optional<Request> request;
  };
  std::vector<std::pair<std::string, std::string>> world;
  std::vector<Authority> authorities;
  std::vector<Agent> agents;
};

struct EpochResult {
  std::vector<std::optional<Outcome>> outcomes;  // by agent; none: it was not there
  std::vector<Change> changes;
  bool fruitless = false;                    // pass 2 refused somebody and nothing changed
  EpochClass epochClass = EpochClass::NONE;  // but for STATE_LIVELOCK, which takes several epochs
};

// Requires: the authorities have distinct ids. The order of agents and authorities does not matter.
// O(size of the input * log).
EpochResult adjudicate(const EpochInput& input);

}  // namespace witan::domains::joint
