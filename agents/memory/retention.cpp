#include "agents/memory/retention.h"

#include <algorithm>

#include "agents/memory/memory_context.h"
#include "base/quote.h"

namespace witan::agents {

using replication::DatabaseName;
using replication::Kind;
using replication::Message;
using replication::VectorClock;
using replication::Write;

namespace {

constexpr std::size_t kRemovalsAtOnce = 1000;

// What all active devices have and hold against nobody; the reason if there is no such thing.
struct Stable {
  VectorClock clock;
  std::string held;
};

Result<Stable> stableOf(replication::LocalReplica& replica, std::string_view scope) {
  const std::string id = replication::LocalReplica::spaceId(DatabaseName::agents, scope);
  WITAN_TRY(members, replica.membership());
  std::vector<std::string> present = members.presentDevices();
  replication::Space* space = replica.findSpace(id);
  if (space == nullptr) return Stable{{}, "there is no scope " + inQuotes(scope)};
  const VectorClock mine = space->clock();
  for (const std::string& device : present)
    if (device != replica.device() && !le(replica.acks().acked(id, device), mine))
      return Stable{{}, "device " + device + " has something that has not arrived here"};
  // Alone in its cluster, a device knows what everybody has.
  const bool alone = std::ranges::all_of(present, [&](auto& d) { return d == replica.device(); });
  return Stable{alone ? mine : replica.acks().stable(id, present), {}};
}

// The messages that go, newest first; none if a branch holds on to one of them.
struct Prefix {
  Messages messages;
  std::string held;
};

Prefix prefixOf(const replication::MessageGraph& graph, const ChosenSummary& summary, std::string_view threadId) {
  Prefix prefix;
  prefix.messages = threadMessages(graph, threadId);
  std::erase_if(prefix.messages, [&](const Message* m) {
    return m->body.id == summary.endMessageId || !summary.covered.contains(m->body.id);
  });
  std::ranges::reverse(prefix.messages);
  std::set<std::string> going;
  for (const Message* m : prefix.messages) going.insert(m->body.id);
  const std::set<std::string> ends = foldEnds(graph);
  for (const Message* m : graph.order()) {
    const std::string& id = m->body.id;
    if (going.contains(id) || ends.contains(id) || m->body.kind == replication::MessageKind::summary) continue;
    for (const std::string& parent : parentsOf(graph, *m))
      if (going.contains(parent)) return {{}, "message " + id + " follows " + parent + ", which is folded"};
  }
  return prefix;
}

}  // namespace

Result<Retained> retainThread(replication::LocalReplica& replica, std::string_view scope, std::string_view agentId,
                              std::string_view threadId) {
  WITAN_TRY(space, replica.database(DatabaseName::agents).space(scope));
  WITAN_TRY(graph, agentGraph(*space, agentId));
  WITAN_TRY(state, agentStateToWrite(*space, agentId));
  WITAN_TRY(summary, chosenSummary(*space, graph, threadId, state.pointers.latestSummaryMessageId));
  if (!summary) return Retained{};
  const Prefix prefix = prefixOf(graph, *summary, threadId);
  if (prefix.messages.empty()) return Retained{0, prefix.held};
  WITAN_TRY(stable, stableOf(replica, scope));
  if (!stable.held.empty()) return Retained{0, stable.held};
  const Message* summaryMessage = graph.message(summary->messageId);
  if (!stable.clock.covers(summary->view.winner->dot) || !stable.clock.covers(summaryMessage->dot))
    return Retained{0, "not every device has summary " + summary->id.hex().substr(0, 12)};
  for (const Message* m : prefix.messages)
    if (!stable.clock.covers(m->dot)) return Retained{0, "not every device has message " + m->body.id};
  Retained result;
  for (std::size_t from = 0; from < prefix.messages.size(); from += kRemovalsAtOnce) {
    std::vector<Write> writes;
    for (std::size_t i = from; i < std::min(from + kRemovalsAtOnce, prefix.messages.size()); ++i)
      writes.push_back({Kind::message, prefix.messages[i]->body.id, {}, true});
    WITAN_DO(replica.commit(DatabaseName::agents, scope, writes));
    result.removed += writes.size();
  }
  return result;
}

}  // namespace witan::agents
