// An agent's memory when it wakes: the latest summary of its thread, and the newer messages.
//
// A summary is a record (kind summary, key: the summary id) and a message of kind summary in the thread, "summary/" +
// that id, whose first parent is the last message folded and whose second, if any, is the summary message before it.
// AgentState.pointers.latestSummaryMessageId names it. It covers its end and the end's ancestors, so what another
// device wrote beside them and what comes late is never covered by mistake. Readers; nothing is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/memory/thread.h"
#include "base/json.h"
#include "replication/records/record_views.h"

namespace witan::agents {

std::string summaryMessageId(const SummaryId& id);

struct ChosenSummary {
  SummaryId id;
  std::string messageId;
  std::string endMessageId;
  replication::SummaryView view;  // with a winner
  std::set<std::string> covered;  // message ids that are here
};

// `pointer`: of the agent's state. If it names no usable summary of this thread, the one that comes after the others by
// ancestry, ties by the largest (counter, host, id), as pointers are settled. None: nothing is folded, or the end of
// what was folded has not arrived. Errors: the store's.
Result<std::optional<ChosenSummary>> chosenSummary(replication::Space& space, const replication::MessageGraph& graph,
                                                   std::string_view threadId,
                                                   const std::optional<std::string>& pointer);

// The messages of the thread that the summary does not cover, in order.
Messages notCovered(const Messages& thread, const std::optional<ChosenSummary>& summary);

// --- the context of a wake
//
// It is bounded in bytes and in messages, and equal on all devices that hold the same records (seed 003, 0.4 and 0.6).
// The newest messages are taken first. Messages that find no room are counted and wait for the next fold.

struct MemoryLimits {
  std::size_t bytes = 32 * 1024;  // of texts as JSON, the summary's included
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

// A summary, and what came after it in order, as far as the limits reach.
MemoryContext contextOf(std::string_view summary, Messages newer, const MemoryLimits& limits = {});

// `graph`: of the agent (agentGraph, or a MessageCache's). Errors: the store's. O(n log n) in the agent's messages.
Result<MemoryContext> memoryContext(replication::Space& space, const replication::MessageGraph& graph,
                                    std::string_view agentId, std::string_view threadId,
                                    const MemoryLimits& limits = {});

// {"leftOut", "messages": [{"content", "kind"}], "summary"}: for an agent's wake input (agents/agent.h).
json::object contextJson(const MemoryContext& context);

}  // namespace witan::agents
