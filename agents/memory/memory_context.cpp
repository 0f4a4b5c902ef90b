#include "agents/memory/memory_context.h"

#include <algorithm>
#include <tuple>

#include "base/reflect.h"
#include "base/utf8.h"

namespace witan::agents {

using replication::Kind;
using replication::Message;
using replication::MessageGraph;
using replication::MessageKind;

namespace {

constexpr std::string_view kPrefix = "summary/";

Result<std::optional<ChosenSummary>> usable(replication::Space& space, const MessageGraph& graph,
                                            std::string_view threadId, const std::string& messageId) {
  const std::optional<ChosenSummary> none;
  const Message* message = graph.message(messageId);
  if (message == nullptr || message->body.threadId != threadId || message->body.kind != MessageKind::summary ||
      !messageId.starts_with(kPrefix))
    return none;
  const auto id = SummaryId::parse(std::string_view(messageId).substr(kPrefix.size()));
  if (!id.ok()) return none;
  WITAN_TRY(versions, space.versions(Kind::summary, id->hex()));
  ChosenSummary chosen{*id, messageId, {}, replication::summaryViewOf(*id, versions), {}};
  if (!chosen.view.winner || chosen.view.winner->body.threadId != threadId) return none;
  chosen.endMessageId = chosen.view.winner->body.endMessageId;
  if (graph.message(chosen.endMessageId) == nullptr) return none;
  chosen.covered = withAncestors(graph, chosen.endMessageId);
  return std::optional(std::move(chosen));
}

// As JSON: what a control character takes there is six bytes.
std::size_t writtenBytes(std::string_view text) { return canonicalJson(json::value(text)).size() - 2; }

// Its beginning, of at most so many bytes as JSON.
std::string_view clipWritten(std::string_view text, std::size_t bytes) {
  text = clip(text, bytes);
  while (writtenBytes(text) > bytes) text = clip(text, text.size() / 2);
  return text;
}

}  // namespace

std::string summaryMessageId(const SummaryId& id) { return concat(kPrefix, id.hex()); }

Result<std::optional<ChosenSummary>> chosenSummary(replication::Space& space, const MessageGraph& graph,
                                                   std::string_view threadId,
                                                   const std::optional<std::string>& pointer) {
  if (pointer) {
    WITAN_TRY(named, usable(space, graph, threadId, *pointer));
    if (named) return named;
  }
  Messages candidates = graph.order();
  std::erase_if(candidates,
                [&](const Message* m) { return m->body.threadId != threadId || m->body.kind != MessageKind::summary; });
  // Latest first: a later one has its ancestors behind it.
  std::ranges::sort(candidates, [](const Message* a, const Message* b) {
    return std::tie(a->dot.counter, a->dot.host, a->body.id) > std::tie(b->dot.counter, b->dot.host, b->body.id);
  });
  const Messages all = candidates;
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Message* m) {
    return std::ranges::none_of(
        all, [&](const Message* other) { return other != m && graph.isAncestor(m->body.id, other->body.id); });
  });
  for (const Message* candidate : candidates) {
    WITAN_TRY(chosen, usable(space, graph, threadId, candidate->body.id));
    if (chosen) return chosen;
  }
  return std::optional<ChosenSummary>();
}

Messages notCovered(const Messages& thread, const std::optional<ChosenSummary>& summary) {
  Messages out = thread;
  if (summary) std::erase_if(out, [&](const Message* m) { return summary->covered.contains(m->body.id); });
  return out;
}

MemoryContext contextOf(std::string_view summary, Messages newer, const MemoryLimits& limits) {
  MemoryContext context;
  context.summary = clipWritten(summary, std::min(limits.summaryBytes, limits.bytes));
  // A join only ties branches together.
  std::erase_if(newer, [](const replication::Message* m) { return m->body.content.empty(); });
  std::size_t room = limits.bytes - writtenBytes(context.summary);
  auto from = newer.end();
  while (from != newer.begin() && context.messages.size() < limits.messages) {
    const auto& body = (*std::prev(from))->body;
    const std::string_view text = clipWritten(body.content, limits.messageBytes);
    const std::size_t bytes = writtenBytes(text);
    if (bytes > room) break;
    room -= bytes;
    context.messages.push_back({body.id, body.kind, std::string(text), text.size() < body.content.size()});
    --from;
  }
  std::ranges::reverse(context.messages);
  context.leftOut = static_cast<std::size_t>(from - newer.begin());
  return context;
}

Result<MemoryContext> memoryContext(replication::Space& space, const replication::MessageGraph& graph,
                                    std::string_view agentId, std::string_view threadId, const MemoryLimits& limits) {
  WITAN_TRY(state, agentStateToWrite(space, agentId));
  WITAN_TRY(chosen, chosenSummary(space, graph, threadId, state.pointers.latestSummaryMessageId));
  MemoryContext context = contextOf(chosen ? std::string_view(chosen->view.winner->body.text) : std::string_view(),
                                    notCovered(threadMessages(graph, threadId), chosen), limits);
  if (chosen) context.summaryId = chosen->id, context.conflicts = chosen->view.conflicts;
  return context;
}

json::object contextJson(const MemoryContext& context) {
  json::array messages;
  for (const Remembered& one : context.messages)
    messages.push_back(json::object{{"kind", enumName(one.kind)}, {"content", one.content}});
  return {{"summary", context.summary},
          {"messages", std::move(messages)},
          {"leftOut", static_cast<std::uint64_t>(context.leftOut)}};
}

}  // namespace witan::agents
