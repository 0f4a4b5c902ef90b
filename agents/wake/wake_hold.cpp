// WakeCenter: wakes that were taken up and cannot go on for now.
#include <algorithm>

#include "agents/wake/wake_center.h"
#include "replication/records/record_views.h"

namespace witan::agents {

using replication::DatabaseName;
using replication::WakeStatus;

Status WakeCenter::postpone(const RunKey& key, std::int64_t afterMs, std::string_view cause, Now now) {
  const WakeQueue::Entry* entry = queue_.find(key);
  if (entry == nullptr) return notFound("no run " + key.hex() + " is under way here");
  if (entry->job.attempts >= options_.attempts)
    return ended(key, WakeStatus::failedTerminal, concat("given up after ", entry->job.attempts, " starts: ", cause),
                 now);
  queue_.requeue(key, now.ms + std::max<std::int64_t>(0, afterMs));
  if (afterMs <= 0) return okStatus();
  WITAN_TRY(runs, space());
  WITAN_TRY(over, hasEnded(*runs, key));
  if (over) return okStatus();
  WITAN_TRY(write, runWrite(runBody(queue_.find(key)->job, WakeStatus::started, cause, 0)));
  const auto said = replica_.commit(DatabaseName::agents, options_.scope, {&write, 1});
  return said.ok() ? okStatus() : Status(said.error());
}

void WakeCenter::release(const RunKey& key, Now now) {
  const WakeQueue::Entry* entry = queue_.find(key);
  if (entry != nullptr && entry->job.state == JobState::queued && entry->dueMs > now.ms) queue_.requeue(key, now.ms);
}

}  // namespace witan::agents
