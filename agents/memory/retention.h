// Retention: takes away messages that a summary stands for, once every device has that summary.
//
// Only a whole prefix goes: all that lies strictly before the end of the thread's latest summary, in every thread of
// branches, or nothing. The end stays, and so do all summaries and links. Nothing goes while
//   some active device has not acknowledged the summary, its message and each of the messages;
//   this device lacks something that another one had when it acknowledged them (it may hold an answer to one of them);
//   a message outside of the prefix names one inside as its parent (a branch that the summary does not cover).
// So no parent is ever left dangling (danglingParents() in agents/memory/thread.h stays empty), also in the middle of
// it: the newest goes first. Removals are tombstones and replicate. Stands in the pending batch of the agent database.
#pragma once

#include <string>
#include <string_view>

#include "replication/local_replica.h"

namespace witan::agents {

// What every active device of the cluster has of a space and this device knows that it has; or why there is no such
// thing. `space`: "{database}/{scope}". Errors: of the store.
struct StableRecords {
  replication::VectorClock clock;
  std::string held;
};
Result<StableRecords> stableRecords(replication::LocalReplica& replica, const std::string& space);

struct Retained {
  std::size_t removed = 0;
  std::string held;  // why nothing went, for people; empty: there was nothing to hold
};

// Errors: the store's. O(messages of the space).
Result<Retained> retainThread(replication::LocalReplica& replica, std::string_view scope, std::string_view agentId,
                              std::string_view threadId);

// Of an agent that remembers nothing: what was said in its runs before that time, once every device has it. Errors: the
// store's. O(messages of the space).
Result<Retained> forgetSaid(replication::LocalReplica& replica, std::string_view scope, std::string_view agentId,
                            std::int64_t beforeMs);

}  // namespace witan::agents
