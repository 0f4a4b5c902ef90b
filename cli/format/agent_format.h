// An agent's concurrent versions and view for people: what `state merge` and `agent show` print. Pure functions.
#pragma once

#include <string>

#include "node/operations/agent.h"

namespace witan::node {

// Several lines.
std::string pictureWords(const operations::AgentShown& agent);

}  // namespace witan::node
