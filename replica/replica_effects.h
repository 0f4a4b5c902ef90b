// Effects: what a round of a Replica hands to its driver. Value types.
#pragma once

#include <string>
#include <vector>

#include "agents/host/host_effects.h"
#include "replica/core/replica_config.h"
#include "replica/ownership/etcd_messages.h"
#include "replica/request_router.h"

namespace witan::node {

struct Outgoing {
  std::string peer;
  std::string frames;  // whole frames
  bool close = false;  // the stream ends after them
};

struct Effects {
  std::vector<Outgoing> sends;
  std::vector<Answered> answers;
  std::vector<Notice> notices;
  std::vector<EtcdRequest> etcd;            // to be sent in this order
  std::vector<agents::ToolCall> toolCalls;  // of agents: answered through agents()
  void clear() { sends.clear(), answers.clear(), notices.clear(), etcd.clear(), toolCalls.clear(); }
};

}  // namespace witan::node
