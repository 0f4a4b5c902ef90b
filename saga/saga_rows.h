// Saga rows: a device's record of one operation that crosses its two databases (seed 003, section 7:
// `sagaRow = (operationId, phase, status, lastError, updatedAt)`), with the whole intent, so that a start after a crash
// can carry it out.
//
// saga/saga.capnp describes every member. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/identity.h"
#include "base/reflect.h"
#include "base/result.h"
#include "replication/database.h"
#include "replication/records/records.h"

namespace witan::saga {

using replication::OperationOutcome;

inline constexpr std::size_t kMaxErrorBytes = 1000;  // of an error's words that are kept

// Where an effect is made: in the journal database by the engine itself; by the meta-agent, who answers; by a tool.
WITAN_ENUM(EffectKind, journal, proposal, tool)

// One action of a persisted plan, or the compensation of one.
struct Intent {
  static constexpr std::size_t textMax = replication::kMaxRecordBytes;
  Hash operation{};
  Hash run{};
  std::string agentId;
  std::string tool;
  EffectKind kind = EffectKind::journal;
  std::string scope;
  std::string arguments;  // canonical JSON
  std::vector<std::string> targets;
  std::optional<Hash> compensates;
  std::uint64_t hops = 0;  // of its run (agents/wake/wake_job.h)
  WITAN_MEMBERS(Intent, operation, run, agentId, tool, kind, scope, arguments, targets, compensates, hops)
  friend bool operator==(const Intent&, const Intent&) = default;

  OperationId id() const { return {operation}; }
};

WITAN_ENUM(SagaPhase, intended, applying, recording, done)
// running: the engine is at it; waiting: the meta-agent, a tool or a person is; backoff: until its next attempt. The
// others are ends, needsAttention until a person says otherwise.
WITAN_ENUM(SagaStatus, running, waiting, backoff, completed, denied, failed, needsAttention, compensated)

struct SagaRow {
  static constexpr std::size_t textMax = replication::kMaxRecordBytes;
  WITAN_DECLARED(SagaRow, (Intent, intent), (SagaPhase, phase, SagaPhase::intended),
                 (SagaStatus, status, SagaStatus::running), (std::uint32_t, attempts), (std::int64_t, nextAttemptAtMs),
                 (std::string, lastError), (std::int64_t, createdAtMs), (std::int64_t, updatedAtMs),
                 (OperationOutcome, outcome, OperationOutcome::applied), (std::string, result), (bool, superseded),
                 (std::uint64_t, ended))

  OperationId id() const { return intent.id(); }
};

// The outcome of an effect. The result is canonical JSON, for the agent and the record.
struct Outcome {
  OperationOutcome outcome = OperationOutcome::applied;
  std::string result = "null";
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// {"error": message}: the result of an effect that was refused for good.
Outcome refusal(const Error& error);

// Ids, canonical arguments, limits. The error names the member.
Status checkIntent(const Intent& intent);

std::string encodeRow(const SagaRow& row);
// Errors: corrupt, saying what is wrong.
Result<SagaRow> decodeRow(std::string_view bytes);

// One JSON object, arguments and result as JSON.
std::string rowJson(const SagaRow& row);

// --- SagaRows: the rows in a device's agents database, beside the replicated records and never replicated.
//
//   saga/open/<operation>   under way: all that a start has to read
//   saga/held/<operation>   waits for a person: out of the way, however many there are
//   saga/done/<place>       the last few that ended, for people to look at: the n-th to end is put at n mod `keepDone`,
//                           over the one that goes
//
// Changes go into the database's pending batch. Not thread-safe. The database outlives it.

class SagaRows {
 public:
  // The last `keepDone` rows that ended stay.
  SagaRows(replication::Database& agents, std::uint32_t keepDone) : agents_(agents), keepDone_(keepDone) {}

  using Visitor = std::function<void(SagaRow&&)>;
  // In order of the operations. Errors: corrupt, naming the row. O(rows).
  Status visitOpen(const Visitor& visit) const;
  Status visitHeld(const Visitor& visit) const;
  // By the time they ended.
  Status visitDone(const Visitor& visit) const;
  // Wherever it is. Errors: notFound; corrupt.
  Result<SagaRow> find(const OperationId& operation);
  Result<std::optional<SagaRow>> held(const OperationId& operation);
  Result<std::optional<SagaRow>> open(const OperationId& operation) const;

  void putOpen(const SagaRow& row);
  // Moves it from or to the open ones.
  void hold(const SagaRow& row);
  void release(const SagaRow& row);
  // Grows whenever one is held or released here.
  std::uint64_t heldChanges() const { return heldChanges_; }
  // Reads what end() and find() need. Once is enough. O(rows that ended).
  Status prepare();
  // Takes it out of the open ones; gives it its number. Requires: prepare().
  void end(SagaRow& row);
  // One that ended was undone since. Nothing if it is not kept any more. Requires: prepare().
  void noteUndone(const OperationId& operation, std::int64_t nowMs);

 private:
  // An operation's id is a digest: eight of its bytes are a hash.
  struct ByBytes {
    std::size_t operator()(const Hash& hash) const noexcept {
      std::size_t word = 0;
      std::memcpy(&word, hash.data(), sizeof word);
      return word;
    }
  };

  using NamedVisitor = std::function<void(std::string_view name, SagaRow&& row)>;
  Status scan(std::string_view prefix, const NamedVisitor& visit) const;
  Result<std::optional<SagaRow>> read(const std::string& name) const;

  replication::Database& agents_;
  const std::uint32_t keepDone_;
  std::uint64_t heldChanges_ = 0;
  std::optional<bool> anyHeld_;  // false: none is held, which spares each beginning saga a read of the store
  bool prepared_ = false;
  struct Done {
    Hash operation;
    std::uint64_t place;
  };
  void forget(std::map<std::uint64_t, Done>::iterator done);

  std::map<std::uint64_t, Done> done_;                         // by number
  std::map<std::uint64_t, std::uint64_t> numberAt_;            // by place
  std::unordered_map<Hash, std::uint64_t, ByBytes> numberOf_;  // by operation; only ever looked up
};

}  // namespace witan::saga
