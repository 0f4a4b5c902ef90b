// Agents in a device's store: what is held of one, and its view with the messages that arrived. The replica is borrowed
// for the call.
#pragma once

#include <string>
#include <string_view>

#include "cli/format/agent_format.h"
#include "replication/local_replica.h"

namespace witan::node {

struct AgentRecord {
  AgentPicture picture;
  std::size_t messages = 0;
  std::size_t missingParents = 0;
};

// Errors: notFound; a state that this build does not read. O(messages of the scope).
Result<AgentRecord> readAgent(replication::LocalReplica& replica, std::string_view scope, const std::string& id);

}  // namespace witan::node
