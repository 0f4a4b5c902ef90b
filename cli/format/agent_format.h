// An agent's antichain and view as JSON and for people: what `state merge` and `agent show` print. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "replication/records/agent_view.h"

namespace witan::node {

struct AgentPicture {
  std::string agentId;
  std::vector<replication::Version> antichain;  // by dot
  replication::AgentView view;
};

// {"antichain":[dots],"view":{...}}
std::string pictureJson(const AgentPicture& picture);
// Several lines.
std::string pictureWords(const AgentPicture& picture);

}  // namespace witan::node
