#include "cli/commands/node_command.h"

#include "cli/client/replica_verb.h"
#include "cli/commands/cli.h"
#include "node/daemon/daemon.h"
#include "program/output.h"

namespace witan::node {

CommandOutput runOnNode(Daemon& daemon, const std::vector<std::string>& words) {
  const auto view = ReplicaDir::borrow(daemon.path(), daemon.replica().data(), daemon.replica().agents(),
                                       [&daemon] { return daemon.tick(); });
  const AmbientReplica ambient(*view, daemon.replica());
  Captured captured;
  const OutputCapture capture(captured);
  std::vector<std::string> line{"witan"};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int exitCode = runCommandLine(static_cast<int>(line.size()), pointers.data());
  return {exitCode, captured.out, captured.err};
}

}  // namespace witan::node
