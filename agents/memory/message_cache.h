// MessageCache: the messages of the agents that were asked for lately, as graphs that follow what comes into a space.
//
// agentGraph() (agents/memory/thread.h) reads every message of the space from the store. An agent that remembers needs
// its own at each wake and at each end of a run, so here they are read once and then only what has come since. The
// graph is always the one that agentGraph() would give. Bounded in bytes: what was not asked for longest goes, and is
// read again when it is wanted. Of one space; not thread-safe. Space and database outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/memory/thread.h"

namespace witan::agents {

class MessageCache {
 public:
  // `maxBytes`: of the messages that stay between two calls, with what they cost beside their texts.
  explicit MessageCache(std::size_t maxBytes = std::size_t{32} << 20) : maxBytes_(maxBytes) {}

  // Until the next call. Errors: the store's. O(what came since the last call), or O(messages of the space) for an
  // agent that is not here.
  Result<const replication::MessageGraph*> graph(replication::Space& space, std::string_view agentId);

  // How often all messages were read: for tests and statistics.
  std::uint64_t fullReads() const { return fullReads_; }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Agent {
    replication::MessageGraph graph;
    std::size_t bytes = 0;
    std::uint64_t asked = 0;
    bool refusals = false;  // some of its items were not taken: another one may change which
  };

  Status follow(replication::Space& space);
  Status take(replication::Space& space, const replication::Held& held);
  template <class Item>
  void insert(Item item);
  void clear();
  void forget(std::map<std::string, Agent, std::less<>>::iterator agent);
  void shrink();

  const std::size_t maxBytes_;
  std::map<std::string, Agent, std::less<>> agents_;
  std::size_t bytes_ = 0;
  std::uint64_t asked_ = 0, fullReads_ = 0;
  // How far the space was followed: by writer, and what says that this is not all that changed.
  std::vector<replication::Seq> seen_;
  std::uint64_t outOfOrder_ = 0, losses_ = 0;
};

}  // namespace witan::agents
