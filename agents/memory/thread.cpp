#include "agents/memory/thread.h"

#include <algorithm>

#include "base/sha256.h"
#include "replication/records/agent_view.h"

namespace witan::agents {

using replication::Kind;
using replication::Version;

Result<replication::MessageGraph> agentGraph(replication::Space& space, std::string_view agentId,
                                             std::vector<replication::RefusedMessage>* refused) {
  std::vector<replication::Message> messages;
  std::vector<replication::Link> links;
  const auto take = [&](Kind kind, const auto& read, auto& into) -> Status {
    for (const std::string& key : space.keys(kind)) {
      WITAN_TRY(versions, space.versions(kind, key));
      for (const Version& version : versions) {
        // What this build cannot read stays where it is; a newer one may.
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
    WITAN_TRY(messages, agentGraph(space, agentId));
    graph = std::move(messages);
  }
  const replication::GraphAncestry ancestry(graph);
  WITAN_TRY(view, replication::viewOf(versions, versions.size() > 1 ? &ancestry : nullptr));
  return view ? std::move(view->state) : replication::AgentState{};
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

}  // namespace witan::agents
