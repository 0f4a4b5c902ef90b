// The wake-run log: how far each run has come, as replicated records (kind wakeRun, key: the run key in hex).
//
// A run that has ended, on any device that this one knows of, never runs again (seed 003, 6.1). What several versions
// of a record mean together: replication/records/wake_run.h. Not thread-safe; the space is the caller's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wake/wake_job.h"
#include "replication/records/wake_run.h"
#include "replication/space.h"

namespace witan::agents {

Result<replication::WakeRunView> runView(replication::Space& space, const RunKey& key);

// Whether it is known to have ended.
Result<bool> hasEnded(replication::Space& space, const RunKey& key);

// `cause` is cut at 1,000 bytes. `finishedAtMs`: 0 for `started`.
replication::WakeRunBody runBody(const WakeJob& job, replication::WakeStatus status, std::string_view cause,
                                 std::int64_t finishedAtMs);
Result<replication::Write> runWrite(const replication::WakeRunBody& body);

// Every run of the space, by key. O(records).
struct KnownRun {
  RunKey key;
  replication::WakeRunView view;
};
Result<std::vector<KnownRun>> knownRuns(replication::Space& space);

}  // namespace witan::agents
