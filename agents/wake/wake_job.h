// WakeJob: one wake that waits or runs on this device: what woke whom, and under which run key.
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

#include "base/identity.h"
#include "base/reflect.h"
#include "replication/records/notification.h"
#include "replication/records/records.h"

namespace witan::agents {

// The timer by which an agent wakes itself: AgentState.schedule.nextWakeAt.
inline constexpr std::string_view kSelfTimer = "self";
// Of a batch, in the input; how many more there were is told.
inline constexpr std::size_t kMaxInputChanges = 1000;
inline constexpr std::size_t kMaxUserTextBytes = 64 * 1024;

WITAN_ENUM(JobState, queued, running)

struct WakeJob {
  static constexpr std::size_t textMax = replication::kMaxRecordBytes;
  Hash runKey{};
  std::string agentId;
  replication::WakeReason reason = replication::WakeReason::subscription;
  std::string subject;  // the subscription, timer or session
  // Of a subscription: the batch, where it stands and its logical change key. Of one to a ledger: "ledger/{domain}", no
  // batch, and the key of the fact.
  std::string space;
  std::string batchHost;
  std::uint64_t batchCounter = 0;
  std::optional<Hash> change;
  std::int64_t scheduledAtMs = 0;  // of a timer
  std::string turn;                // of a user
  std::uint64_t hops = 0;          // runs between what somebody outside did and this one (agents/wake/provenance.h)
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
// What a ledger says: `key` of `field` of an entity has become `value`.
struct LedgerFact {
  std::string domain, entity, field, key, value;
};
// The same fact gives the same run key on every device, and in every copy of the ledger.
Result<WakeJob> ledgerJob(std::string_view agentId, std::string_view subscriptionId, const LedgerFact& fact);
Result<WakeJob> timerJob(std::string_view agentId, std::string_view timerId, std::int64_t scheduledAtMs);
// Errors: ids; a text that is too long or not UTF-8.
Result<WakeJob> userJob(std::string_view agentId, std::string_view sessionId, std::string_view turnId,
                        std::string_view text);

// The row. Reading is strict: a job whose run key does not follow from its parts is corrupt.
std::string jobRowName(const RunKey& key);
std::string encodeJob(const WakeJob& job);
Result<WakeJob> decodeJob(std::string_view rowName, std::string_view bytes);

}  // namespace witan::agents
