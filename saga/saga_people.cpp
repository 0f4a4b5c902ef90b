// SagaEngine: what people say of operations that were put aside, also on several devices.
#include <algorithm>

#include "base/utf8.h"
#include "replication/writer.h"
#include "saga/operation_marks.h"
#include "saga/saga_engine.h"

namespace witan::saga {

using namespace replication;

// --- people

Status SagaEngine::retry(const OperationId& operation, Now now) {
  if (Saga* saga = at(operation.value)) {
    if (saga->row.status != SagaStatus::backoff)
      return inTheWay(operation, concat("is under way (", enumName(saga->row.status), ")"), "wait for it");
    due_.erase({saga->dueMs, operation.value});
    saga->row.attempts = 0;
    ready_.push_back(operation.value);
    return okStatus();
  }
  WITAN_TRY(row, rows_.find(operation));
  if (row.phase == SagaPhase::intended)
    return inTheWay(operation, "has not been tried yet", "it will be when the node runs");
  if (transition(row.phase, SagaEvent::retried).act == SagaAct::refuse)
    return inTheWay(operation, concat("has ended (", enumName(row.status), ")"), "to undo it: witan saga compensate");
  if (options_.retryMs > 0 && now.wallMs() - row.createdAtMs > options_.retryMs)
    return inTheWay(operation, "is too old to be tried again: what is known of it may be gone",
                    "give it up: witan saga compensate");
  WITAN_DO(mayAnswer(row));
  row.attempts = 0;
  row.status = SagaStatus::waiting;
  row.updatedAtMs = now.wallMs();
  Saga& saga = takeUp(std::move(row));
  saga.insisted = true;
  ready_.push_back(operation.value);
  return okStatus();
}

Status SagaEngine::compensate(const OperationId& operation, Now now) {
  if (at(operation.value) != nullptr)
    return inTheWay(operation, "is under way", "wait for it, or for it to be put aside");
  WITAN_TRY(held, rows_.held(operation));
  if (held) {
    const bool acted = held->phase == SagaPhase::recording || journalHas(replica_, operation.hex());
    if (acted) return inTheWay(operation, "had its effect, and its outcome is not recorded", "first: witan saga retry");
    WITAN_DO(mayAnswer(*held));
    return giveUp(*std::move(held), now);
  }
  const auto scope = agentScopeOf(replica_, operation);
  if (!scope) {
    WITAN_TRY(row, rows_.find(operation));
    return inTheWay(operation, concat("was not carried out (", enumName(row.status), ")"), "");
  }
  WITAN_TRY(marks, marksOf(replica_, *scope, operation));
  if (!marks.applied())
    return inTheWay(operation, concat("was not carried out (", enumName(marks.record()->body.outcome), ")"), "");
  WITAN_TRY(undone, marksOf(replica_, *scope, compensationOf(operation)));
  if (!undone.any()) return undo(*scope, operation, now);
  const std::size_t before = sagas_.size();
  WITAN_DO(undoAgain(*scope, operation, now));
  return sagas_.size() > before ? okStatus() : inTheWay(operation, "was compensated before", "");
}

// A person says that it will not be tried any more. What a tool did that never answered is not known.
Status SagaEngine::giveUp(SagaRow row, Now now) {
  const bool unsure = row.intent.kind != EffectKind::journal;
  row.outcome = OperationOutcome::failed;
  row.result = unsure ? R"({"error":"given up by a person; whether it had an effect is not known"})"
                      : R"({"error":"given up by a person"})";
  step(takeUp(std::move(row)), SagaEvent::withdrawn, now);
  return okStatus();
}

SagaEngine::Saga& SagaEngine::takeUp(SagaRow row) {
  rows_.release(row);
  const OperationId operation = row.id();
  const bool outside = row.intent.kind != EffectKind::journal;
  Saga saga{std::move(row), operation.hex(), 0, false, outside, false};
  return sagas_.insert_or_assign(operation.value, std::move(saga)).first->second;
}

// --- operations that several devices have put aside

namespace {

// Nothing is left to be done here but to record what came of it.
bool awaitsOutcome(const SagaRow& row) {
  return row.phase == SagaPhase::applying && row.intent.kind != EffectKind::journal;
}

}  // namespace

Status SagaEngine::settleHeld(const OperationId& operation, Now now) {
  WITAN_TRY(held, rows_.held(operation));
  if (!held || !awaitsOutcome(*held)) return okStatus();
  WITAN_TRY(marks, marksOf(replica_, held->intent.scope, operation));
  auto outcome = marks.outcome();
  if (!outcome) return okStatus();
  ++counters_.found;
  carriedOut(takeUp(*std::move(held)), *std::move(outcome), now);
  return okStatus();
}

Status SagaEngine::mayAnswer(const SagaRow& held) {
  const Intent& intent = held.intent;
  if (!awaitsOutcome(held)) return okStatus();
  WITAN_TRY(space, agents().space(intent.scope));
  WITAN_TRY(said, saidOf(*space, intent));
  const bool here =
      std::erase_if(said, [&](const SaidOfOperation& one) { return one.device == replica_.device(); }) > 0;
  std::string told;
  for (const SaidOfOperation& one : said)
    told += concat(told.empty() ? "" : ", ", one.by, " said ", one.choice, " on ", one.device);
  WITAN_TRY(marks, marksOf(replica_, intent.scope, intent.id()));
  if (const OperationRecord* record = marks.record())
    return inTheWay(intent.id(),
                    concat("has ended: ", enumName(record->body.outcome), " by ", deviceOf(record->dot.host),
                           told.empty() ? "" : " (" + told + ")", ": ", clip(record->body.result, kMaxErrorBytes)),
                    "look again: witan inbox");
  // Of those that were told the first is at it: it may be told again.
  const bool underWay = std::ranges::any_of(said, [&](const SaidOfOperation& one) {
    return environment_.hears(one.device) && (!here || one.device < replica_.device());
  });
  if (!underWay) return okStatus();
  return inTheWay(intent.id(), "is in other hands: " + told,
                  "wait for what comes of it; if it stops again, answer it on that device");
}

Result<std::string> SagaEngine::goesFirst(const Intent& intent) {
  WITAN_TRY(space, agents().space(intent.scope));
  WITAN_TRY(said, saidOf(*space, intent));
  for (const SaidOfOperation& one : said)
    if (one.choice == "retry" && one.device < replica_.device() && environment_.hears(one.device))
      return concat(one.by, " has it tried again on ", one.device, ", which goes first");
  return std::string();
}

}  // namespace witan::saga
