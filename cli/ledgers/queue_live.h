// The counselor's desk of a running node: what `witan queue` does without --store.
#pragma once

#include "cli/client/live.h"

namespace witan::node {

struct LiveDecision {
  std::string counselor, digest, base = "candidate", edit = "{}", reason, operationId;
};

// `which`: "PARTITION/SEQ", an entity, or the beginning of a digest.
Result<int> liveQueue(const ControlClient& client, bool json);
Result<int> livePending(const ControlClient& client, const std::string& which, bool json);
Result<int> liveDecide(const ControlClient& client, const std::string& which, const LiveDecision& decision, bool commit,
                       bool json);

}  // namespace witan::node
