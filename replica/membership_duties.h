// What a device owes the others: statements and housekeeping that follow from what it has read. The replica is borrowed
// for the call; the caller flushes.
#pragma once

#include "replication/local_replica.h"

namespace witan::node {

// Acknowledges the retirements that wait for this device (replication/membership.h). Returns how many. From then on
// nothing may be accepted from those devices: end a session with one first. O(statements).
Result<std::size_t> payRetireAcks(replication::LocalReplica& replica);

}  // namespace witan::node
