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

Result<StableRecords> stableRecords(replication::LocalReplica& replica, const std::string& id) {
  WITAN_TRY(members, replica.membership());
  WITAN_TRY(waited, replica.waitedFor(id));
  replication::Space* space = replica.findSpace(id);
  if (space == nullptr) return StableRecords{{}, "there is no space " + inQuotes(id)};
  if (waited.empty() && !members.presentDevices().empty())
    return StableRecords{{}, "this device may not have the space " + inQuotes(id)};
  const VectorClock mine = space->clock();
  for (const std::string& device : waited)
    if (device != replica.device() && !le(replica.acks().acked(id, device), mine))
      return StableRecords{{}, "device " + device + " has something that has not arrived here"};
  // Alone in its cluster, a device knows what everybody has.
  const bool alone = std::ranges::all_of(waited, [&](auto& d) { return d == replica.device(); });
  return StableRecords{alone ? mine : replica.acks().stable(id, waited), {}};
}

Result<Retained> retainThread(replication::LocalReplica& replica, std::string_view scope, std::string_view agentId,
                              std::string_view threadId) {
  WITAN_TRY(space, replica.database(DatabaseName::agents).space(scope));
  WITAN_TRY(graph, agentGraph(*space, agentId));
  WITAN_TRY(state, agentStateToWrite(*space, agentId));
  WITAN_TRY(summary, chosenSummary(*space, graph, threadId, state.pointers.latestSummaryMessageId));
  if (!summary) return Retained{};
  const Prefix prefix = prefixOf(graph, *summary, threadId);
  if (prefix.messages.empty()) return Retained{0, prefix.held};
  WITAN_TRY(stable, stableRecords(replica, replication::LocalReplica::spaceId(DatabaseName::agents, scope)));
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

Result<Retained> forgetSaid(replication::LocalReplica& replica, std::string_view scope, std::string_view agentId,
                            std::int64_t beforeMs) {
  WITAN_TRY(space, replica.database(DatabaseName::agents).space(scope));
  WITAN_TRY(stable, stableRecords(replica, replication::LocalReplica::spaceId(DatabaseName::agents, scope)));
  if (!stable.held.empty()) return Retained{0, stable.held};
  std::vector<Write> writes;
  for (const std::string& id : space->keys(Kind::message)) {
    WITAN_TRY(versions, space->versions(Kind::message, id));
    if (versions.size() != 1 || versions.front().tombstone || !stable.clock.covers(versions.front().dot)) continue;
    const auto message = replication::decodeRecord<replication::MessageBody>(versions.front().body);
    const bool old = message.ok() && message->agentId == agentId && message->createdAtMs < beforeMs &&
                     message->threadId.find("/run/") == std::string::npos;
    if (old) writes.push_back({Kind::message, id, {}, true});
    if (writes.size() == kRemovalsAtOnce) break;  // the others another time
  }
  if (!writes.empty()) WITAN_DO(replica.commit(DatabaseName::agents, scope, writes));
  return Retained{writes.size(), {}};
}

}  // namespace witan::agents
