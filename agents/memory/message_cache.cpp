#include "agents/memory/message_cache.h"

namespace witan::agents {

using replication::Held;
using replication::Kind;
using replication::Link;
using replication::Message;
using replication::MessageGraph;
using replication::Space;
using replication::Version;

namespace {

// Nodes, indexes and allocations of one item.
constexpr std::size_t kBesideTexts = 400;

std::size_t bytesOf(const Message& message) {
  std::size_t bytes = kBesideTexts + 2 * message.body.id.size() + message.body.content.size();
  for (const std::string& parent : message.body.parents) bytes += 2 * parent.size();
  return bytes;
}
std::size_t bytesOf(const Link& link) {
  return kBesideTexts + link.body.id.size() + link.body.from.size() + link.body.to.size();
}

}  // namespace

Result<const MessageGraph*> MessageCache::graph(Space& space, std::string_view agentId) {
  shrink();
  WITAN_DO(follow(space));
  auto at = agents_.find(agentId);
  if (at == agents_.end()) {
    std::vector<replication::RefusedMessage> refused;
    WITAN_TRY(graph, agentGraph(space, agentId, &refused));
    ++fullReads_;
    Agent agent{std::move(graph), 0, 0, !refused.empty()};
    for (const Message* message : agent.graph.order()) {
      agent.bytes += bytesOf(*message);
      for (const Link* link : agent.graph.linksFrom(message->body.id)) agent.bytes += bytesOf(*link);
    }
    bytes_ += agent.bytes;
    at = agents_.emplace(agentId, std::move(agent)).first;
  }
  at->second.asked = ++asked_;
  return &at->second.graph;
}

// Every version that is new stands at the end of its writer's; what says otherwise makes all be read again.
Status MessageCache::follow(Space& space) {
  if (space.outOfOrder() != outOfOrder_ || space.losses() != losses_) clear();
  outOfOrder_ = space.outOfOrder(), losses_ = space.losses();
  seen_.resize(space.writers().size());
  for (replication::WriterIndex writer = 0; writer < seen_.size(); ++writer) {
    const replication::RecordTable::Origin& held = space.table().origin(writer);
    if (!agents_.empty())
      for (auto at = held.upper_bound(seen_[writer], replication::SeqOrder{}); at != held.end(); ++at)
        WITAN_DO(take(space, *at));
    if (!held.empty()) seen_[writer] = std::max(seen_[writer], held.rbegin()->seq);
  }
  space.walked();
  return okStatus();
}

Status MessageCache::take(Space& space, const Held& held) {
  const Kind kind = held.record->kind;
  if (kind != Kind::message && kind != Kind::link) return okStatus();
  // Something was taken away, or an id was given twice: which stands, the order of all of them says.
  if (held.tombstone || held.record->versions.size() > 1) return clear(), okStatus();
  WITAN_TRY(body, space.bodyOf(held));
  const Version version{{space.writers().name(held.writer), held.seq}, {}, std::move(body), false};
  if (kind == Kind::message) {
    if (auto message = replication::messageOf(version); message.ok()) insert(*std::move(message));
  } else if (auto link = replication::linkOf(version); link.ok()) {
    if (link->body.relation == replication::kParentRelation) insert(*std::move(link));
  }
  return okStatus();
}

template <class Item>
void MessageCache::insert(Item item) {
  const auto at = agents_.find(item.body.agentId);
  if (at == agents_.end()) return;
  if (at->second.refusals) return forget(at);
  const std::size_t bytes = bytesOf(item);
  at->second.bytes += bytes, bytes_ += bytes;
  // A cycle or a repetition: what is refused depends on the order.
  if (at->second.graph.insert(std::move(item)).outcome != replication::Insertion::inserted) forget(at);
}

void MessageCache::clear() {
  agents_.clear();
  bytes_ = 0;
}

void MessageCache::forget(std::map<std::string, Agent, std::less<>>::iterator agent) {
  bytes_ -= agent->second.bytes;
  agents_.erase(agent);
}

void MessageCache::shrink() {
  while (bytes_ > maxBytes_) {
    auto oldest = agents_.begin();
    for (auto at = agents_.begin(); at != agents_.end(); ++at)
      if (at->second.asked < oldest->second.asked) oldest = at;
    forget(oldest);
  }
}

}  // namespace witan::agents
