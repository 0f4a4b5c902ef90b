// NodeClock: both clocks of a node, and its word about a wall clock that jumps (base/held_clock.h). Belongs to a
// Daemon, on its loop's thread; the wall clock outlives it.
#pragma once

#include "base/held_clock.h"
#include "base/seams.h"
#include "node/telemetry/log.h"
#include "replication/local_replica.h"

namespace witan::node {

class NodeClock {
 public:
  // Null: the system's.
  explicit NodeClock(Clock* wall) : wall_(wall != nullptr ? *wall : system_) {}
  NodeClock(const NodeClock&) = delete;

  Now now();
  // Logs what became of a jump, and leaves an incident of each that begins.
  void tell(Log& log, replication::LocalReplica& replica);

 private:
  SystemClock system_;
  Clock& wall_;
  HeldClock held_;
};

}  // namespace witan::node
