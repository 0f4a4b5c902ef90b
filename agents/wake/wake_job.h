// WakeJob: one wake that waits or runs on this device: its cause, its agent and its run key.
//
// Jobs are rows of this device in its agent database ("wake/" + run key), written in the same store batch as the record
// of the run they belong to. They are never replicated: every device makes its own from the notification batch, and all
// get the same run key (seed 003, 6.1; docs/FINDINGS.md, F15). Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "base/identity.h"
#include "base/reflect.h"
#include "base/result.h"
#include "replication/records/notification.h"
#include "replication/records/record_views.h"
#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::agents {

// The timer by which an agent wakes itself: AgentState.schedule.nextWakeAt.
inline constexpr std::string_view kSelfTimer = "self";
// The most changes of a batch in the input, which counts the others.
inline constexpr std::size_t kMaxInputChanges = 1000;
inline constexpr std::size_t kMaxUserTextBytes = 64 * 1024;

WITAN_ENUM(JobState, queued, running)

struct WakeJob {
  static constexpr std::size_t textMax = replication::kMaxRecordBytes;
  Hash runKey{};
  std::string agentId;
  replication::WakeReason reason = replication::WakeReason::subscription;
  std::string subject;  // the subscription, timer or session
  // For a subscription: the batch, its space and its logical change key. For a subscription to a ledger:
  // "ledger/{domain}", no batch, and the key of the fact.
  std::string space;
  std::string batchHost;
  std::uint64_t batchCounter = 0;
  std::optional<Hash> change;
  std::int64_t scheduledAtMs = 0;  // of a timer; of a graph the attempt
  std::string turn;                // of a user; of a graph the span
  std::uint64_t hops = 0;          // runs between what somebody outside did and this one (agents/wake/wake_job.h)
  std::string input;               // canonical JSON: {"changes", "more", "tokens"} or {"user"} or {"scheduledAtMs"}
  std::int64_t enqueuedAtMs = 0;   // wall time, for people
  std::int64_t startedAtMs = 0;    // of its first start
  std::uint64_t sequence = 0;      // in the order of arrival
  std::uint64_t attempts = 0;      // starts so far, but for those that were forgiven
  JobState state = JobState::queued;
  WITAN_MEMBERS(WakeJob, runKey, agentId, reason, subject, space, batchHost, batchCounter, change, scheduledAtMs, turn,
                hops, input, enqueuedAtMs, startedAtMs, sequence, attempts, state)
  friend bool operator==(const WakeJob&, const WakeJob&) = default;

  RunKey key() const { return RunKey{runKey}; }
};

// From its parts, as seed 003, 6.1 has it: never from when or where it was queued. Errors: ids.
Result<RunKey> runKeyOf(const WakeJob& job);

// A batch as agents and jobs need it: the batch and what it changed, by name.
struct BatchNews {
  replication::NotificationBatch batch;
  std::vector<replication::BatchChange> changes;
};
// Errors: a body that is no batch.
Result<BatchNews> batchNews(const replication::Dot& dot, std::string body);

// `subscriptionId` must be the agent's; `space`: "{database}/{scope}".
Result<WakeJob> subscriptionJob(std::string_view agentId, std::string_view subscriptionId, std::string_view space,
                                const BatchNews& news);
// A fact of a ledger: `key` of `field` of an entity has become `value`.
struct LedgerFact {
  std::string domain, entity, field, key, value;
  std::uint64_t hops = 0;  // runs behind it
};
// The same fact gives the same run key on every device, and in every copy of the ledger.
Result<WakeJob> ledgerJob(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact);
Result<WakeJob> timerJob(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs);
Result<WakeJob> graphJob(const replication::ActivationBody& activation);
// Errors: ids; a text that is too long or not UTF-8.
Result<WakeJob> userJob(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                        std::string_view text);

// The row. Reading is strict: a job whose run key does not follow from its parts is corrupt.
std::string jobRowName(const RunKey& key);
std::string encodeJob(const WakeJob& job);
Result<WakeJob> decodeJob(std::string_view rowName, std::string_view bytes);

// --- provenance: tokens that a run writes into the notification batch of its own commits, so that loops of agents end
//
// Two typed tokens of the batch (seed 003, 3.1), which replicate with it, so every device judges alike:
//   subtypeToken|run.agent|{agentId}   whose run made the change
//   subtypeToken|run.hops|{n}          how many runs lie between this one and what somebody outside did
// An agent's own changes do not wake it (unless a subscription asks for them), and a chain A -> B -> A ends after a
// bounded number of runs. They are no part of any identity. Facts of ledgers (replica/ledger_watch.h) and runs of
// graphs are counted in the same chain. Pure functions; any thread.

inline constexpr std::string_view kRunAgentNamespace = "run.agent";
inline constexpr std::string_view kRunHopsNamespace = "run.hops";
// More than any chain has: what a malformed token counts as, so that it wakes nobody for ever.
inline constexpr std::uint64_t kEndlessHops = 1'000'000;

struct Provenance {
  std::string agentId;
  std::uint64_t hops = 0;  // of the run that made the change
  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// For the batches of a run's commits. Requires: a valid agent id.
std::vector<NotificationToken> provenanceTokens(const Provenance& provenance);

// None: no run made it. A batch with one of the two tokens only, or with a number that is none, counts as the end of a
// chain.
std::optional<Provenance> provenanceOf(const replication::NotificationBatch& batch);

// --- timers: wakes at multiples of an interval since 1970, wall time
//
// Which wake a timer owes is a function of the wall clock alone: the last multiple that is not in the future. So of
// several that were missed only the last one runs, all devices derive the same run key, and a clock that was wrong
// for a while needs no repair: multiples that ran are known by their run keys and do not run again. No state here.

// The multiple that is owed at `wallMs`; 0 before the first. Requires: checkTimer(everyMs) is ok.
std::int64_t owedAt(std::int64_t everyMs, std::int64_t wallMs);

// --- the wake-run log: the progress of each run, as replicated records (kind wakeRun, key: the run key in hex)
//
// A run that has ended, on any device that this one knows of, never runs again (seed 003, 6.1). Its view is in
// replication/records/record_views.h. Not thread-safe; the space is the caller's.

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
