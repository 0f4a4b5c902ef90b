// WakeCenter: wakes that were taken up and cannot go on for now, and those that are looked for in batches of before.
#include <algorithm>

#include "agents/json_members.h"
#include "agents/wake/wake_center.h"
#include "base/mutant.h"
#include "replication/anti_entropy.h"
#include "replication/records/record_views.h"
#include "replication/records/records.h"

namespace witan::agents {

using replication::DatabaseName;
using replication::Kind;
using replication::WakeStatus;

namespace {

// Batches of a space that were handed out, but for those up to the counters of `marks`. Null: all.
Result<std::vector<replication::BatchEvent>> deliveredBatches(replication::Space& space, const json::value* marks) {
  std::vector<replication::BatchEvent> events;
  for (replication::WriterIndex writer = 0; writer < space.writers().size(); ++writer) {
    const std::string& host = space.writers().name(writer);
    const auto from = marks != nullptr ? integerOf(*marks, host).value_or(0) : 0;
    replication::RecordTable::Origin& held = space.table().origin(writer);
    for (auto at = held.upper_bound(static_cast<std::uint64_t>(from), replication::SeqOrder{});
         at != held.end() && space.delivered().covers(writer, at->seq); ++at) {
      if (at->record->kind != Kind::batch || at->tombstone) continue;
      WITAN_TRY(body, space.bodyOf(*at));
      events.push_back({{host, at->seq}, std::move(body)});
    }
  }
  return replication::causalOrder(std::move(events), space.schemas());
}

}  // namespace

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

Status WakeCenter::findMissed(const std::string& agentId, std::string_view row) {
  WITAN_TRY(marks, parseJson(row));
  Missed missed;
  for (const std::string& id : replica_.spaceIds()) {
    const json::value* counters = marks.is_object() ? marks.get_object().if_contains(id) : nullptr;
    WITAN_TRY(events, deliveredBatches(*replica_.findSpace(id), counters));
    for (replication::BatchEvent& event : events) missed.events.emplace_back(id, std::move(event));
  }
  missed_.insert_or_assign(agentId, std::move(missed));
  return okStatus();
}

Status WakeCenter::noteTakenBack() {
  WITAN_TRY(records, space());
  if (takenBack_.losses == records->losses()) return okStatus();
  takenBack_ = {.losses = records->losses()};
  const std::string prefix =
      concat(replication::kTookBackRow, replication::LocalReplica::spaceId(DatabaseName::agents, options_.scope), "|");
  return replica_.database(DatabaseName::agents).scanMeta(prefix, [&](std::string_view row, std::string_view) {
    takenBack_.rows.emplace_back(row);
    if (const auto run = RunKey::parse(row.substr(row.rfind('|') + 1)); run.ok()) takenBack_.runs.insert(*run);
    return true;
  });
}

// Once the others' copy is taken over: of a space whose copy is not, batches may go yet.
Status WakeCenter::takeAgain(Now now) {
  WITAN_DO(noteTakenBack());
  if (takenBack_.rows.empty() ||
      replica_.restored(replication::LocalReplica::spaceId(DatabaseName::agents, options_.scope)))
    return okStatus();
  bool all = true;
  for (const std::string& id : replica_.spaceIds()) {
    if (takenBack_.looked.contains(id)) continue;
    if (replica_.restored(id)) {
      all = false;
      continue;
    }
    WITAN_TRY(events, deliveredBatches(*replica_.findSpace(id), nullptr));
    for (const replication::BatchEvent& event : events) {
      WITAN_TRY(taken, wakeBy(id, event, now, {}, &takenBack_.runs));
      if (taken == Taken::full) return okStatus();
    }
    takenBack_.looked.insert(id);
  }
  if (!all) return okStatus();
  for (const std::string& row : takenBack_.rows)
    if (!mutated("keepTookBack")) replica_.database(DatabaseName::agents).eraseMeta(row);
  takenBack_.rows.clear(), takenBack_.runs.clear();
  ++lookedAgain_;
  return okStatus();
}

void WakeCenter::release(const RunKey& key, Now now) {
  const WakeQueue::Entry* entry = queue_.find(key);
  if (entry != nullptr && entry->job.state == JobState::queued && entry->dueMs > now.ms) queue_.requeue(key, now.ms);
}

}  // namespace witan::agents
