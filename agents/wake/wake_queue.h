// WakeQueue: the wakes of this device that wait or run. Durable, first in first out, one at a time for each agent.
//
// Rows stand in the agent database's pending batch with what goes with them (the record that a run started or ended),
// so either both are durable or neither is. Bounded: a full queue takes nothing in and its caller stops reading
// notification batches, which stay in their spaces (back-pressure; nothing is ever dropped). Only wakes with equal run
// keys, and so with equal logical change keys, are one (seed 003, 0.3). Times are steady milliseconds (base/time.h): a
// wall clock that jumps moves nothing. Not thread-safe; the database outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wake/wake_job.h"
#include "replication/database.h"

namespace witan::agents {

struct QueueLimits {
  std::size_t jobs = 100'000;
  std::size_t perAgent = 10'000;
};

enum class Enqueued { queued, duplicate, full };

class WakeQueue {
 public:
  struct Entry {
    WakeJob job;
    std::int64_t dueMs = 0;    // not before
    std::int64_t sinceMs = 0;  // since when this start of the process has it
    // Of another device's record of the run: which one, and since when it is known here.
    replication::Dot said = {};
    std::int64_t saidMs = 0;
  };

  WakeQueue(replication::Database& agents, QueueLimits limits) : agents_(agents), limits_(limits) {}

  // Reads the rows back; what was running waits again. O(rows). Errors: corrupt, naming the row.
  Status load(std::int64_t nowMs);

  // O(log n). Duplicate: a wake with this run key is here already.
  Enqueued enqueue(WakeJob job, std::int64_t nowMs);
  // Whether one more of this agent fits.
  bool fits(std::string_view agentId) const;

  const Entry* find(const RunKey& key) const;
  // It runs now. Requires: it waits, and none of its agent runs.
  const WakeJob& start(const RunKey& key, std::int64_t wallMs);
  // It waits again, until `dueMs`; later wakes of its agent may run before it. Requires: it is here.
  void requeue(const RunKey& key, std::int64_t dueMs);
  // Another device says of it that it was started, or waits there. Nothing if that is known. Requires: it is here.
  void says(const RunKey& key, const replication::Dot& said, std::int64_t nowMs);
  // It has got so far that a start of it which ends with the process would be no failure: this start does not count.
  // Requires: it is here and was started.
  void forgive(const RunKey& key);
  // Its run has ended. Whether it was here.
  bool remove(const RunKey& key);

  // The first waiting wake of each agent that runs none, if it is due; by due time, then arrival.
  std::vector<RunKey> heads(std::int64_t nowMs) const;
  // The same of one agent.
  const Entry* head(std::string_view agentId) const;
  // When the next head becomes due after `nowMs`; none if none waits for that.
  std::optional<std::int64_t> nextDueMs(std::int64_t nowMs) const;
  // Timer wakes of the agent that wait and never started, of this timer, scheduled before `ms`.
  std::vector<RunKey> olderTimers(std::string_view agentId, std::string_view timerId, std::int64_t ms) const;

  std::size_t size() const { return entries_.size(); }
  std::size_t running() const { return running_; }
  const std::map<RunKey, Entry>& all() const { return entries_; }

 private:
  struct Place {  // of a waiting wake
    std::int64_t dueMs = 0;
    std::uint64_t sequence = 0;
    RunKey key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Lane {  // one agent
    std::set<Place> waiting;
    std::optional<RunKey> running;
    std::optional<Place> head;  // as it stands in heads_
    std::size_t size() const { return waiting.size() + (running ? 1 : 0); }
  };
  using Lanes = std::map<std::string, Lane, std::less<>>;

  Entry& at(const RunKey& key);
  static Place placeOf(const Entry& entry) { return {entry.dueMs, entry.job.sequence, entry.job.key()}; }
  void refresh(Lanes::iterator lane);
  void put(const WakeJob& job) { agents_.putMeta(jobRowName(job.key()), encodeJob(job)); }

  replication::Database& agents_;
  const QueueLimits limits_;
  std::map<RunKey, Entry> entries_;
  Lanes lanes_;
  std::set<Place> heads_;
  std::uint64_t nextSequence_ = 1;
  std::size_t running_ = 0;
};

}  // namespace witan::agents
