// An agent's messages: its threads as causal graphs, and its state as it must be read before it is written again.
//
// Pure readers of a space of the agent database; nothing is cached. Messages live in the space in any order
// (replication/message_graph.h).
#pragma once

#include <string_view>
#include <vector>

#include "replication/agent_state.h"
#include "replication/message_graph.h"
#include "replication/space.h"

namespace witan::agents {

// All messages of the agent, in all threads, and its links between messages. What could not be taken (an id given
// twice with different contents, a cycle) is listed in `refused`. O(messages of the space).
Result<replication::MessageGraph> agentGraph(replication::Space& space, std::string_view agentId,
                                             std::vector<replication::RefusedMessage>* refused = nullptr);

// The agent's state on which a new version may be written: with its pointers settled by the messages' ancestry, which
// is asked only if devices wrote side by side. Of a new agent: the beginning. O(versions), or as agentGraph().
Result<replication::AgentState> agentStateToWrite(replication::Space& space, std::string_view agentId);

}  // namespace witan::agents
