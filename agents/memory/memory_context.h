// MemoryContext: what an agent is reminded of when it wakes: the latest summary of its thread and the newer messages.
//
// Bounded in bytes and in messages, and the same on every device that holds the same records (seed 003, 0.4 and 0.6).
// The newest messages are taken first; what no longer fits is counted, and waits for the next fold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agents/memory/summary_choice.h"
#include "base/json.h"

namespace witan::agents {

struct MemoryLimits {
  std::size_t bytes = 32 * 1024;  // of texts, the summary's included
  std::size_t summaryBytes = 8 * 1024;
  std::size_t messageBytes = 4 * 1024;  // longer ones are cut, at a character
  std::size_t messages = 200;
};

struct Remembered {
  std::string id;
  replication::MessageKind kind = replication::MessageKind::user;
  std::string content;
  bool cut = false;
  friend bool operator==(const Remembered&, const Remembered&) = default;
};

struct MemoryContext {
  std::optional<SummaryId> summaryId;
  std::string summary;                                 // empty: nothing is folded
  std::vector<Remembered> messages;                    // in the order of the thread
  std::size_t leftOut = 0;                             // older ones that found no room
  std::vector<replication::SummaryVersion> conflicts;  // other texts under the summary's id (F4)
  friend bool operator==(const MemoryContext&, const MemoryContext&) = default;
};

// `graph`: of the agent (agentGraph, or a MessageCache's). Errors: the store's. O(n log n) in the agent's messages.
Result<MemoryContext> memoryContext(replication::Space& space, const replication::MessageGraph& graph,
                                    std::string_view agentId, std::string_view threadId,
                                    const MemoryLimits& limits = {});

// {"leftOut", "messages": [{"content", "kind"}], "summary"}: for an agent's wake input (agents/agent.h).
json::object toJson(const MemoryContext& context);

}  // namespace witan::agents
