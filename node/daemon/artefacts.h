// The registry: artefacts as replicated records (kernel/graph/artefact.h). A record that the cluster's admin did not
// sign counts for nothing. Main thread of the node, or of a closed directory's command.
#pragma once

#include <map>
#include <string>

#include "agents/agent.h"
#include "kernel/graph/artefact.h"
#include "replication/space.h"

namespace witan::node {

// Of what the agent is and may do: id, version, capabilities, locales, budget. A file's version is its own digest.
std::string agentDigest(const agents::AgentSpec& spec);

// By key. Of several the latest validation counts, of one time a failure. O(artefacts), one signature each.
std::map<std::string, graph::Artefact> artefactsIn(replication::Space& space, const PublicKey& admin);

// Whether one of them says of exactly this agent that it passed.
bool isValidated(const std::map<std::string, graph::Artefact>& artefacts, const agents::AgentSpec& spec);

// To be committed to the agents' database.
Result<replication::Write> artefactWrite(const graph::Artefact& artefact, const SigningKey& admin);

}  // namespace witan::node
