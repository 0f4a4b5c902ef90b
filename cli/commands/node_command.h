// A client's command line on the running node: what `witan agent set` does to a directory, it does here to the open
// one. Main thread only.
#pragma once

#include "node/api/api_context.h"

namespace witan::node {

CommandOutput runOnNode(Daemon& daemon, const std::vector<std::string>& words);

}  // namespace witan::node
