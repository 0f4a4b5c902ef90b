#include "agents/memory/memory_context.h"

#include <algorithm>

#include "base/reflect.h"
#include "base/utf8.h"

namespace witan::agents {

Result<MemoryContext> memoryContext(replication::Space& space, const replication::MessageGraph& graph,
                                    std::string_view agentId, std::string_view threadId, const MemoryLimits& limits) {
  WITAN_TRY(state, agentStateToWrite(space, agentId));
  WITAN_TRY(chosen, chosenSummary(space, graph, threadId, state.pointers.latestSummaryMessageId));
  MemoryContext context;
  if (chosen) {
    context.summaryId = chosen->id;
    context.summary = clip(chosen->view.winner->body.text, std::min(limits.summaryBytes, limits.bytes));
    context.conflicts = chosen->view.conflicts;
  }
  Messages newer = notCovered(threadMessages(graph, threadId), chosen);
  // A join only ties branches together.
  std::erase_if(newer, [](const replication::Message* m) { return m->body.content.empty(); });
  std::size_t room = limits.bytes - context.summary.size();
  auto from = newer.end();
  while (from != newer.begin() && context.messages.size() < limits.messages) {
    const auto& body = (*std::prev(from))->body;
    const std::string_view text = clip(body.content, limits.messageBytes);
    if (text.size() > room) break;
    room -= text.size();
    context.messages.push_back({body.id, body.kind, std::string(text), text.size() < body.content.size()});
    --from;
  }
  std::reverse(context.messages.begin(), context.messages.end());
  context.leftOut = static_cast<std::size_t>(from - newer.begin());
  return context;
}

json::object toJson(const MemoryContext& context) {
  json::array messages;
  for (const Remembered& one : context.messages)
    messages.push_back(json::object{{"kind", enumName(one.kind)}, {"content", one.content}});
  return {{"summary", context.summary},
          {"messages", std::move(messages)},
          {"leftOut", static_cast<std::uint64_t>(context.leftOut)}};
}

}  // namespace witan::agents
