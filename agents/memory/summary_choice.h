// Which summary stands for the beginning of a thread, and which messages it covers.
//
// A summary is a record (kind summary, key: the summary id) and a message of kind summary in the thread, "summary/" +
// that id, whose first parent is the last message folded and whose second, if any, is the summary message before it.
// AgentState.pointers.latestSummaryMessageId names it. It covers its end and the end's ancestors, so what another
// device wrote beside them and what comes late is never covered by mistake. Readers; nothing is kept.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "agents/memory/thread.h"
#include "replication/records/summary.h"

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

// What the thread says beyond a summary, in order.
Messages notCovered(const Messages& thread, const std::optional<ChosenSummary>& summary);

}  // namespace witan::agents
