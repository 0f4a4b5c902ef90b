// Saga rows: what a device keeps of one operation that crosses its two databases (seed 003, section 7:
// `sagaRow = (operationId, phase, status, lastError, updatedAt)`), with the whole intent, so that it can be carried out
// after a crash by whoever finds the row.
//
// saga/saga.capnp describes every member. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "base/reflect.h"
#include "base/result.h"
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
  WITAN_MEMBERS(Intent, operation, run, agentId, tool, kind, scope, arguments, targets, compensates)
  friend bool operator==(const Intent&, const Intent&) = default;

  OperationId id() const { return {operation}; }
};

WITAN_ENUM(SagaPhase, intended, applying, recording, done)
// running: the engine is at it; waiting: the meta-agent, a tool or a person is; backoff: until its next attempt. The
// others are ends, needsAttention until a person says otherwise.
WITAN_ENUM(SagaStatus, running, waiting, backoff, completed, denied, failed, needsAttention, compensated)

struct SagaRow {
  static constexpr std::size_t textMax = replication::kMaxRecordBytes;
  Intent intent;
  SagaPhase phase = SagaPhase::intended;
  SagaStatus status = SagaStatus::running;
  std::uint32_t attempts = 0;
  std::int64_t nextAttemptAtMs = 0;
  std::string lastError;
  std::int64_t createdAtMs = 0;
  std::int64_t updatedAtMs = 0;
  OperationOutcome outcome = OperationOutcome::applied;
  std::string result;
  bool superseded = false;
  std::uint64_t ended = 0;
  WITAN_MEMBERS(SagaRow, intent, phase, status, attempts, nextAttemptAtMs, lastError, createdAtMs, updatedAtMs, outcome,
                result, superseded, ended)
  friend bool operator==(const SagaRow&, const SagaRow&) = default;

  OperationId id() const { return intent.id(); }
};

// What came of an effect. The result is canonical JSON, for the agent and the record.
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

}  // namespace witan::saga
