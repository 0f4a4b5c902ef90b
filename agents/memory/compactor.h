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

#include "agents/memory/memory_context.h"
#include "base/identity.h"
#include "base/result.h"
#include "base/time.h"
#include "replication/local_replica.h"
#include "replication/records/records.h"

namespace witan::agents {

inline constexpr std::size_t kMaxSummaryBytes = 64 * 1024;

struct SummaryRequest {
  SummaryId id;
  std::string agentId;
  std::string threadId;
  std::string contract;  // version() of the summariser for which it was planned
  std::string previous;  // the text of the summary before, which the new one takes the place of; may be empty
  struct Line {
    replication::MessageKind kind = replication::MessageKind::user;
    std::string content;
  };
  std::vector<Line> messages;
};

// Turns the beginning of a thread into one text. Its contract:
//
//   pure       the same request gives the same text: no clock, no chance, nothing kept;
//   versioned  version() changes whenever the text for any request may change; it is part of the summary id (seed 003,
//              section 8), so texts of two contracts are two summaries, never a conflict;
//   bounded    at most kMaxSummaryBytes of UTF-8.
//
// One that cannot keep the first (a model) is allowed: F4 settles which of several texts counts. It need not answer at
// once either: the compactor hands out requests and takes answers.
class Summariser {
 public:
  virtual ~Summariser() = default;
  virtual std::string version() const = 0;
  virtual Result<std::string> summarise(const SummaryRequest& request) const = 0;
};

// The built-in one: the first words of each message; the newest stay longest. It extracts and invents nothing.
class ExtractSummariser final : public Summariser {
 public:
  explicit ExtractSummariser(std::size_t bytes = 4096) : bytes_(bytes) {}
  std::string version() const override { return concat("extract-1/", bytes_); }
  Result<std::string> summarise(const SummaryRequest& request) const override;

 private:
  std::size_t bytes_;
};

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
  WITAN_DECLARED(FoldJob, (Hash, summaryId), (std::string, agentId), (std::string, threadId),
                 (std::string, startMessageId), (std::string, endMessageId), (std::string, contractVersion),
                 (FoldStatus, status, FoldStatus::waiting), (std::uint64_t, attempts), (std::string, lastError),
                 (std::int64_t, dueAtMs))  // wall time of the next attempt
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

  // The jobs of earlier starts, due when they were to be; now, where nothing failed yet. A wall clock that jumped holds
  // none back for longer than `lastBackoffMs`. Errors: corrupt, naming the row.
  Status load(Now now);
  // The agent's messages, for whoever else needs them. As MessageCache::graph.
  Result<const replication::MessageGraph*> graphOf(std::string_view agentId);
  // After a run of the agent. O(messages of the agent).
  Result<Planned> plan(std::string_view agentId, std::string_view threadId, const Summariser& summariser, Now now);
  // The requests that are due; a job whose messages are gone ends here. The same until answered.
  Result<std::vector<SummaryRequest>> due(Now now);
  // The text, or why there is none. Errors: no such job; the store's.
  Status answered(const SummaryId& id, const Result<std::string>& text, Now now);
  // plan() need not be followed by a loop of one's own where the summariser answers at once. Only the requests of its
  // contract. Returns how many.
  Result<std::size_t> run(const Summariser& summariser, Now now);
  // What the job stands for, for one who reads it: the summary before, and the messages. None: there is no such job, or
  // another device has folded it, or more than it, meanwhile.
  Result<std::optional<MemoryContext>> contextOf(const SummaryId& id);
  // It is asked for elsewhere: not due before then.
  void defer(const SummaryId& id, std::int64_t ms, Now now);
  // The same span, for another summariser. Errors: notFound.
  Status recast(const SummaryId& id, const Summariser& summariser, Now now);
  // A person says: try again. Errors: notFound.
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
  struct Span {
    std::string previous;
    Messages messages;
  };
  // None: it is not what it was when it was planned.
  Result<std::optional<Span>> spanOf(const FoldJob& job);
  Status failed(Waiting& waiting, const std::string& why, Now now);
  Status commitSummary(const FoldJob& job, const std::string& text);
  Result<Planned> join(const replication::MessageBody& body);

  replication::LocalReplica& replica_;
  const CompactionOptions options_;
  MessageCache messages_;
  std::map<SummaryId, Waiting> jobs_;
};

}  // namespace witan::agents
