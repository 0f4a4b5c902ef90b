// `witan sync pipe`: one session over standard input and output, with whatever carries them: ssh, mkfifo, socat.
#pragma once

#include <string>
#include <vector>

#include "cli/client/verb.h"

namespace witan::node {

struct PipeArguments : ReplicaArguments {
  std::string peer;                 // empty: believe what it says
  std::vector<std::string> scopes;  // what the peer may have; empty: everything
};

// Frames on stdout; its one line of words goes to stderr. Exit codes: ok when all that both may have is equal;
// kExitSomeRefused when it is not, since one of them is no member; kExitFailed when the session was ended with a
// reason; kExitUnreachable when the stream died.
Result<Printed> syncPipe(ReplicaDir& dir, const PipeArguments& arguments);

}  // namespace witan::node
