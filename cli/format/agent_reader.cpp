#include "cli/format/agent_reader.h"

#include "base/quote.h"
#include "replication/records/message_graph.h"

namespace witan::node {

using namespace replication;

namespace {

// The versions of a kind that can be read and concern the agent.
template <class Item, class Read>
Result<std::vector<Item>> itemsOf(Space& space, Kind kind, const std::string& agent, Read read) {
  std::vector<Item> items;
  for (const std::string& key : space.keys(kind)) {
    WITAN_TRY(versions, space.versions(kind, key));
    for (const Version& version : versions) {
      if (version.tombstone) continue;
      auto item = read(version);
      if (item.ok() && item->body.agentId == agent) items.push_back(*std::move(item));
    }
  }
  return items;
}

}  // namespace

Result<AgentRecord> readAgent(LocalReplica& replica, std::string_view scope, const std::string& id) {
  WITAN_DO(validateId("agent", id));
  AgentRecord record;
  record.picture.agentId = id;
  if (Space* space = replica.database(DatabaseName::agents).find(scope)) {
    WITAN_TRY(held, space->versions(Kind::agentState, id));
    for (Version& version : held)
      if (!version.tombstone) record.picture.antichain.push_back(std::move(version));
  }
  if (record.picture.antichain.empty())
    return Error{ErrorCode::notFound, "no agent " + inQuotes(id) + " in scope " + std::string(scope),
                 "see: witan agent list"};
  Space& space = *replica.database(DatabaseName::agents).find(scope);
  WITAN_TRY(messages, itemsOf<Message>(space, Kind::message, id, messageOf));
  WITAN_TRY(links, itemsOf<Link>(space, Kind::link, id, linkOf));
  const MessageGraph graph = messageGraphOf(std::move(messages), std::move(links));
  record.messages = graph.size();
  record.missingParents = graph.missingParents().size();
  const GraphAncestry ancestry(graph);
  WITAN_TRY(view, viewOf(record.picture.antichain, &ancestry));
  WITAN_CHECK(view.has_value(), "no tombstone is among them");
  record.picture.view = *std::move(view);
  return record;
}

}  // namespace witan::node
