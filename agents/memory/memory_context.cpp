#include "agents/memory/memory_context.h"

#include <algorithm>

#include "base/reflect.h"

namespace witan::agents {

std::string_view cutText(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  // A byte of the form 10xxxxxx goes on with a character that began before it.
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

Result<MemoryContext> memoryContext(replication::Space& space, std::string_view agentId, std::string_view threadId,
                                    const MemoryLimits& limits) {
  WITAN_TRY(graph, agentGraph(space, agentId));
  WITAN_TRY(state, agentStateToWrite(space, agentId));
  WITAN_TRY(chosen, chosenSummary(space, graph, threadId, state.pointers.latestSummaryMessageId));
  MemoryContext context;
  if (chosen) {
    context.summaryId = chosen->id;
    context.summary = cutText(chosen->view.winner->body.text, std::min(limits.summaryBytes, limits.bytes));
    context.conflicts = chosen->view.conflicts;
  }
  Messages newer = notCovered(threadMessages(graph, threadId), chosen);
  // A join only ties branches together.
  std::erase_if(newer, [](const replication::Message* m) { return m->body.content.empty(); });
  std::size_t room = limits.bytes - context.summary.size();
  auto from = newer.end();
  while (from != newer.begin() && context.messages.size() < limits.messages) {
    const auto& body = (*std::prev(from))->body;
    const std::string_view text = cutText(body.content, limits.messageBytes);
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
