#include "agents/memory/thread.h"

#include "replication/agent_view.h"

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

}  // namespace witan::agents
