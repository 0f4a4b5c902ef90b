#include "agents/memory/thread.h"

#include <algorithm>
#include <type_traits>

#include "base/sha256.h"
#include "replication/records/agent_view.h"

namespace witan::agents {

using replication::Held;
using replication::Kind;
using replication::Link;
using replication::Message;
using replication::MessageGraph;
using replication::Space;
using replication::Version;

Result<replication::MessageGraph> agentGraph(replication::Space& space, std::string_view agentId,
                                             std::vector<replication::RefusedMessage>* refused) {
  std::vector<replication::Message> messages;
  std::vector<replication::Link> links;
  const auto take = [&](Kind kind, const auto& read, auto& into) -> Status {
    for (const std::string& key : space.keys(kind)) {
      WITAN_TRY(versions, space.versions(kind, key));
      for (const Version& version : versions) {
        // A record that this build cannot read stays where it is; a newer build may read it.
        auto item = read(version);
        if (item.ok() && item->body.agentId == agentId) into.push_back(*std::move(item));
      }
    }
    return okStatus();
  };
  WITAN_DO(take(Kind::message, replication::messageOf, messages));
  WITAN_DO(take(Kind::link, replication::linkOf, links));
  std::erase_if(links,
                [](const replication::Link& link) { return link.body.relation != replication::kParentRelation; });
  return replication::messageGraphOf(std::move(messages), std::move(links), refused);
}

Result<replication::AgentState> agentStateToWrite(replication::Space& space, std::string_view agentId) {
  WITAN_TRY(versions, space.versions(Kind::agentState, agentId));
  replication::MessageGraph graph;
  if (versions.size() > 1) {
    WITAN_SET(graph, agentGraph(space, agentId));
  }
  const replication::GraphAncestry ancestry(graph);
  WITAN_TRY(view, replication::viewOf(versions, versions.size() > 1 ? &ancestry : nullptr));
  return view ? std::move(view->state) : replication::AgentState{};
}

Result<replication::Lifecycle> lifecycleIn(Space& space, std::string_view agentId) {
  WITAN_TRY(versions, space.versions(Kind::agentState, agentId));
  WITAN_TRY(view, replication::viewOf(versions, nullptr));
  return view ? view->state.lifecycle : replication::Lifecycle::created;
}

Messages threadMessages(const replication::MessageGraph& graph, std::string_view threadId) {
  Messages out = graph.order();
  std::erase_if(out, [&](const replication::Message* m) {
    return m->body.threadId != threadId || m->body.kind == replication::MessageKind::summary;
  });
  return out;
}

std::set<std::string> parentsOf(const replication::MessageGraph& graph, const replication::Message& message) {
  std::set<std::string> out(message.body.parents.begin(), message.body.parents.end());
  for (const replication::Link* link : graph.linksFrom(message.body.id))
    if (link->body.relation == replication::kParentRelation) out.insert(link->body.to);
  return out;
}

std::set<std::string> withAncestors(const replication::MessageGraph& graph, std::string_view id) {
  std::set<std::string> out;
  std::vector<std::string> next{std::string(id)};
  while (!next.empty()) {
    const std::string one = std::move(next.back());
    next.pop_back();
    const replication::Message* message = graph.message(one);
    if (message == nullptr || !out.insert(one).second) continue;
    for (const std::string& parent : parentsOf(graph, *message))
      if (!out.contains(parent)) next.push_back(parent);
  }
  return out;
}

std::set<std::string> foldEnds(const replication::MessageGraph& graph) {
  std::set<std::string> out;
  for (const replication::Message* message : graph.order())
    if (message->body.kind == replication::MessageKind::summary && !message->body.parents.empty())
      out.insert(message->body.parents.front());
  return out;
}

std::vector<replication::MissingParent> danglingParents(const replication::MessageGraph& graph) {
  const std::set<std::string> ends = foldEnds(graph);
  std::vector<replication::MissingParent> out = graph.missingParents();
  std::erase_if(out, [&](const replication::MissingParent& missing) {
    const replication::Message* child = graph.message(missing.child);
    return ends.contains(missing.child) || (child != nullptr && child->body.kind == replication::MessageKind::summary);
  });
  return out;
}

std::vector<std::string> headsOf(const replication::MessageGraph& graph, const Messages& thread) {
  std::set<std::string> heads;
  for (const replication::Message* message : thread) heads.insert(message->body.id);
  for (const replication::Message* message : thread)
    for (const std::string& parent : parentsOf(graph, *message)) heads.erase(parent);
  return {heads.begin(), heads.end()};
}

std::vector<bool> cutsOf(const replication::MessageGraph& graph, const Messages& thread) {
  std::vector<bool> out;
  std::set<std::string> heads;  // of what came so far
  for (const replication::Message* message : thread) {
    for (const std::string& parent : parentsOf(graph, *message)) heads.erase(parent);
    heads.insert(message->body.id);
    out.push_back(heads.size() == 1);
  }
  return out;
}

std::optional<replication::MessageBody> joinOf(const replication::MessageGraph& graph, const Messages& thread) {
  const std::vector<std::string> heads = headsOf(graph, thread);
  if (heads.size() < 2) return std::nullopt;
  if (!danglingParents(graph).empty()) return std::nullopt;
  const replication::MessageBody& any = thread.front()->body;
  std::string name = "v1|join|" + any.agentId + "|" + any.threadId;
  replication::MessageBody join;
  for (const std::string& head : heads) {
    name += "|" + head;
    join.createdAtMs = std::max(join.createdAtMs, graph.message(head)->body.createdAtMs);
  }
  join.id = "join/" + toHex(sha256(name));
  join.agentId = any.agentId;
  join.threadId = any.threadId;
  join.kind = replication::MessageKind::system;
  join.parents = heads;
  return join;
}

namespace {

// Nodes, indexes and allocations of one item.
constexpr std::size_t kBesideTexts = 400;
constexpr std::size_t kEmptyGraphBytes = 1'500;  // the blocks of its deques

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
    WITAN_TRY(graph, read(space, agentId, refused));
    ++fullReads_;
    Agent agent{std::move(graph), kEmptyGraphBytes, 0, !refused.empty()};
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
  if (space.outOfOrder() != outOfOrder_) commits_.clear(), seen_.clear();
  outOfOrder_ = space.outOfOrder(), losses_ = space.losses();
  seen_.resize(space.writers().size());
  for (replication::WriterIndex writer = 0; writer < seen_.size(); ++writer) {
    const replication::RecordTable::Origin& held = space.table().origin(writer);
    for (auto at = held.upper_bound(seen_[writer], replication::SeqOrder{}); at != held.end(); ++at)
      WITAN_DO(take(space, *at));
    if (!held.empty()) seen_[writer] = std::max(seen_[writer], held.rbegin()->seq);
  }
  space.walked();
  return okStatus();
}

namespace {

// The message, or the link between messages, that this is. False: neither.
template <class Took>
Result<bool> readItem(Space& space, const Held& held, const Took& took) {
  WITAN_TRY(body, space.bodyOf(held));
  const Version version{{space.writers().name(held.writer), held.seq}, {}, std::move(body), false};
  if (held.record->kind == Kind::message) {
    auto message = replication::messageOf(version);
    if (message.ok()) took(*std::move(message));
    return message.ok();
  }
  auto link = replication::linkOf(version);
  if (!link.ok() || link->body.relation != replication::kParentRelation) return false;
  took(*std::move(link));
  return true;
}

}  // namespace

Status MessageCache::take(Space& space, const Held& held) {
  const Kind kind = held.record->kind;
  if (kind != Kind::message && kind != Kind::link) return okStatus();
  // Something was taken away, or an id was given twice: which stands, the order of all of them says.
  if (held.tombstone || held.record->versions.size() > 1) clear();
  if (held.tombstone) return okStatus();
  const bool several = held.record->versions.size() > 1;
  WITAN_TRY(took, readItem(space, held, [&](auto item) {
              std::vector<Commit>& commits = commits_[item.body.agentId];
              if (const Commit one{held.writer, held.seq}; commits.empty() || commits.back() != one)
                commits.push_back(one);
              if (!several) insert(std::move(item));
            }));
  (void)took;
  return okStatus();
}

Result<MessageGraph> MessageCache::read(Space& space, std::string_view agentId,
                                        std::vector<replication::RefusedMessage>& refused) const {
  std::vector<Message> messages;
  std::vector<Link> links;
  const auto add = [&](auto item) {
    if (item.body.agentId != agentId) return;
    if constexpr (std::is_same_v<decltype(item), Message>)
      messages.push_back(std::move(item));
    else
      links.push_back(std::move(item));
  };
  const auto at = commits_.find(agentId);
  for (const auto& [writer, seq] : at == commits_.end() ? std::vector<Commit>() : at->second) {
    const replication::RecordTable::Origin& held = space.table().origin(writer);
    for (auto one = held.lower_bound(seq, replication::SeqOrder{}); one != held.end() && one->seq == seq; ++one)
      if (!one->tombstone && (one->record->kind == Kind::message || one->record->kind == Kind::link)) {
        WITAN_TRY(took, readItem(space, *one, add));
        (void)took;
      }
  }
  return replication::messageGraphOf(std::move(messages), std::move(links), &refused);
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
