// `witan sync status`: what this device holds, what the others are known to have, and what went wrong.
#pragma once

#include <string>

#include "cli/client/replica_verb.h"

namespace witan::node {

Result<Printed> syncStatus(ReplicaDir& dir, const ReplicaArguments& arguments);

// 32 hex digits; equal for equal contents of a space.
std::string digestHex(const replication::Digest& digest);

}  // namespace witan::node
