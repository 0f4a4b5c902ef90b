// An agent's messages: its threads as causal graphs, and its state as it must be read before it is written again.
//
// Readers of a space of the agent database and of the graph they give. MessageCache keeps graphs; the others keep
// nothing. Messages arrive in any order (replication/records/message_graph.h). Summaries have messages too (kind
// summary), which stand beside the thread, not in it: what a thread says is the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replication/records/agent_state.h"
#include "replication/records/message_graph.h"
#include "replication/space.h"

namespace witan::agents {

// All messages of the agent, in all threads, and its links between messages. What could not be taken (an id given
// twice with different contents, a cycle) is listed in `refused`. O(messages of the space).
Result<replication::MessageGraph> agentGraph(replication::Space& space, std::string_view agentId,
                                             std::vector<replication::RefusedMessage>* refused = nullptr);

// The agent's state on which a new version may be written: with its pointers settled by the messages' ancestry, which
// is asked only if devices wrote side by side. Of a new agent: the beginning. O(versions), or as agentGraph().
Result<replication::AgentState> agentStateToWrite(replication::Space& space, std::string_view agentId);

// Of a new agent: created. O(versions).
Result<replication::Lifecycle> lifecycleIn(replication::Space& space, std::string_view agentId);

using Messages = std::vector<const replication::Message*>;

// The messages of a thread, parents first, without summaries. Pointers into the graph. O(n log n).
Messages threadMessages(const replication::MessageGraph& graph, std::string_view threadId);

// By the message and by links of the relation "parent"; each once, also what has not arrived.
std::set<std::string> parentsOf(const replication::MessageGraph& graph, const replication::Message& message);

// The message and everything before it that is there. O(ancestors).
std::set<std::string> withAncestors(const replication::MessageGraph& graph, std::string_view id);

// The last messages that summaries fold, whether or not the summaries can be read. Behind one of them, and behind a
// summary's message, parents may have been removed (agents/memory/retention.h).
std::set<std::string> foldEnds(const replication::MessageGraph& graph);

// Parents that have not arrived yet. Removed parents are not among them.
std::vector<replication::MissingParent> danglingParents(const replication::MessageGraph& graph);

// The messages of a thread that no other of it came after, by id: what the next one names as its parents.
std::vector<std::string> headsOf(const replication::MessageGraph& graph, const Messages& thread);

// For each message, whether all earlier ones of `thread` are its ancestors: only there can a thread be cut so that what
// is folded is the same on every device. O(n log n).
std::vector<bool> cutsOf(const replication::MessageGraph& graph, const Messages& thread);

// The message that joins the branches that devices wrote side by side: one for one set of heads, so two devices write
// the same. None: there is one head only, or a parent has not arrived, so that another head may be hidden. It is no
// part of what the thread says.
std::optional<replication::MessageBody> joinOf(const replication::MessageGraph& graph, const Messages& thread);

// --- MessageCache: the graphs of recently requested agents. They follow the changes of a space.
//
// agentGraph() reads every message of the space from the store. An agent that remembers needs its own at each wake and
// at each end of a run, so the cache notes once whose which commits are, and then reads an agent's own, and the
// changes. The graph is always the one that agentGraph() would give. Bounded in bytes but for the notes (16 bytes a
// commit): the least recently requested graph goes, and is read again on demand. Of one space; not thread-safe. Space
// and database outlive it.

class MessageCache {
 public:
  // `maxBytes`: of the graphs that stay between two calls, with what they cost beside their texts.
  explicit MessageCache(std::size_t maxBytes = std::size_t{4} << 20) : maxBytes_(maxBytes) {}

  // Until the next call. Errors: the store's. O(what came since the last call), and O(messages of the agent) if it is
  // not here.
  Result<const replication::MessageGraph*> graph(replication::Space& space, std::string_view agentId);

  // How often all messages of an agent were read: for tests and statistics.
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
  Result<replication::MessageGraph> read(replication::Space& space, std::string_view agentId,
                                         std::vector<replication::RefusedMessage>& refused) const;
  void clear();
  void forget(std::map<std::string, Agent, std::less<>>::iterator agent);
  void shrink();

  const std::size_t maxBytes_;
  std::map<std::string, Agent, std::less<>> agents_;
  using Commit = std::pair<replication::WriterIndex, replication::Seq>;
  std::map<std::string, std::vector<Commit>, std::less<>> commits_;  // with messages or links of the agent
  std::size_t bytes_ = 0;
  std::uint64_t asked_ = 0, fullReads_ = 0;
  // How far the space was followed: by writer, and what says that this is not all that changed.
  std::vector<replication::Seq> seen_;
  std::uint64_t outOfOrder_ = 0, losses_ = 0;
};

}  // namespace witan::agents
