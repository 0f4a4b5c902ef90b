// Compactor: folds the beginning of a thread into a summary, asynchronously and without destroying anything (seed 003,
// 0.6 and section 8).
//
//   plan     a thread has grown too long: a job, durable as a row of this device ("fold/" + summary id)
//   due      its request, for a summariser
//   answered the summary (if nobody wrote one under this id yet), its message and the agent's pointer, in one commit:
//            so the pointer never names a summary that is not there; and it only moves forward
//
// Devices that fold the same span write under the same id; of different texts the causally first counts (F4), and the
// others are reported. A span that cannot be summarised is tried again with backoff, then waits for a person: never in
// an endless loop. Everything stands in the pending batch of the agent database. Not thread-safe; the replica outlives
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/memory/message_cache.h"
#include "agents/memory/summariser.h"
#include "base/time.h"
#include "replication/local_replica.h"

namespace witan::agents {

struct CompactionOptions {
  std::string scope = "main";  // of the agent database
  std::int64_t triggerBytes = 64 * 1024;
  std::int64_t keepBytes = 16 * 1024;
  std::uint64_t attempts = 5;
  std::int64_t firstBackoffMs = 1'000;
  std::int64_t lastBackoffMs = 3'600'000;
};

// How many of the oldest to fold so that the rest stays within `budget`; the newest always stays. A larger budget never
// folds more. Errors: a negative budget or size. O(n).
Result<std::size_t> foldCount(std::span<const std::int64_t> sizes, std::int64_t budget);

WITAN_ENUM(FoldStatus, waiting, failed)

struct FoldJob {
  Hash summaryId{};
  std::string agentId;
  std::string threadId;
  std::string startMessageId;
  std::string endMessageId;
  std::string contractVersion;
  FoldStatus status = FoldStatus::waiting;
  std::uint64_t attempts = 0;
  std::string lastError;
  WITAN_MEMBERS(FoldJob, summaryId, agentId, threadId, startMessageId, endMessageId, contractVersion, status, attempts,
                lastError)
  friend bool operator==(const FoldJob&, const FoldJob&) = default;
};

enum class Planned {
  nothing,  // short enough, or a job of the thread waits already
  job,
  join,  // devices wrote side by side: their branches were joined, so that there will be a place to cut
};

class Compactor {
 public:
  Compactor(replication::LocalReplica& replica, CompactionOptions options)
      : replica_(replica), options_(std::move(options)) {}

  // The jobs of earlier starts; those that wait are due now. Errors: corrupt, naming the row.
  Status load(Now now);
  // The agent's messages, for whoever else needs them. As MessageCache::graph.
  Result<const replication::MessageGraph*> graphOf(std::string_view agentId);
  // After a run of the agent. O(messages of the agent).
  Result<Planned> plan(std::string_view agentId, std::string_view threadId, const Summariser& summariser, Now now);
  // What is to be summarised now; a job whose messages are gone ends here. The same until answered.
  Result<std::vector<SummaryRequest>> due(Now now);
  // The text, or why there is none. Errors: no such job; the store's.
  Status answered(const SummaryId& id, const Result<std::string>& text, Now now);
  // plan() need not be followed by a loop of one's own where the summariser answers at once. Returns how many.
  Result<std::size_t> run(const Summariser& summariser, Now now);
  // A person says: try again.
  Status retry(const SummaryId& id, Now now);

  struct Waiting {
    FoldJob job;
    std::int64_t dueMs = 0;  // steady
  };
  const std::map<SummaryId, Waiting>& jobs() const { return jobs_; }
  // When the next job is due; none if none waits.
  std::optional<std::int64_t> nextMs() const;

 private:
  Result<replication::Space*> space();
  void put(const FoldJob& job);
  void erase(const SummaryId& id);
  Status failed(Waiting& waiting, const std::string& why, Now now);
  Status commitSummary(const FoldJob& job, const std::string& text);
  Result<Planned> join(const replication::MessageBody& body);

  replication::LocalReplica& replica_;
  const CompactionOptions options_;
  MessageCache messages_;
  std::map<SummaryId, Waiting> jobs_;
};

}  // namespace witan::agents
