// What people ask of sagas, and what several plans for one run ask: trying again, undoing, withdrawing.
#include <algorithm>

#include "base/mutant.h"
#include "saga/saga_engine.h"

namespace witan::saga {

using namespace replication;

namespace {

// Of plans that won one after the other; more than that are a fault, not a history.
constexpr int kMaxUndoings = 64;

Error inTheWay(const OperationId& operation, const std::string& why, const std::string& hint) {
  return {ErrorCode::conflict, "operation " + operation.hex() + " " + why, hint};
}

std::vector<OperationId> operationsOnlyIn(const std::vector<Plan>& losers, const std::vector<OperationId>& kept) {
  std::vector<OperationId> out;
  for (const Plan& loser : losers)
    for (const OperationId& operation : loser.operations)
      if (std::find(kept.begin(), kept.end(), operation) == kept.end() &&
          std::find(out.begin(), out.end(), operation) == out.end())
        out.push_back(operation);
  return out;
}

}  // namespace

// --- people

Status SagaEngine::retry(const OperationId& operation, Now now) {
  if (Saga* saga = at(operation.value)) {
    if (saga->row.status != SagaStatus::backoff)
      return inTheWay(operation, "is under way (" + std::string(enumName(saga->row.status)) + ")", "wait for it");
    due_.erase({saga->dueMs, operation.value});
    saga->row.attempts = 0;
    ready_.push_back(operation.value);
    return okStatus();
  }
  WITAN_TRY(row, rows_.find(operation));
  if (row.phase == SagaPhase::intended)
    return inTheWay(operation, "has not been tried yet", "it will be when the node runs");
  if (transition(row.phase, SagaEvent::retried).act == SagaAct::refuse)
    return inTheWay(operation, "has ended (" + std::string(enumName(row.status)) + ")",
                    "to undo it: witan saga compensate");
  row.attempts = 0;
  row.status = SagaStatus::waiting;
  row.updatedAtMs = now.wallMs();
  rows_.release(row);
  const bool outside = row.intent.kind != EffectKind::journal;
  Saga saga{std::move(row), operation.hex(), 0, false, outside, false};
  sagas_.insert_or_assign(operation.value, std::move(saga));
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
    return giveUp(*std::move(held), now);
  }
  const auto scope = agentScopeOf(replica_, operation);
  if (!scope) {
    WITAN_TRY(row, rows_.find(operation));
    return inTheWay(operation, "was not carried out (" + std::string(enumName(row.status)) + ")", "");
  }
  WITAN_TRY(marks, marksOf(replica_, *scope, operation));
  if (!marks.applied())
    return inTheWay(operation, "was not carried out (" + std::string(enumName(marks.record()->body.outcome)) + ")", "");
  WITAN_TRY(undone, marksOf(replica_, *scope, compensationOf(operation)));
  if (undone.any()) return inTheWay(operation, "was compensated before", "");
  return undo(*scope, operation, now);
}

// A person says that it will not be tried any more. What a tool did that never answered is not known.
Status SagaEngine::giveUp(SagaRow row, Now now) {
  const OperationId operation = row.id();
  const bool unsure = row.intent.kind != EffectKind::journal;
  row.outcome = OperationOutcome::failed;
  row.result = unsure ? R"({"error":"given up by a person; whether it had an effect is not known"})"
                      : R"({"error":"given up by a person"})";
  rows_.release(row);
  Saga saga{std::move(row), operation.hex(), 0, false, unsure, false};
  const auto place = sagas_.insert_or_assign(operation.value, std::move(saga)).first;
  step(place->second, SagaEvent::withdrawn, now);
  return okStatus();
}

// --- undoing

OperationId SagaEngine::compensationOf(const OperationId& operation) const {
  const OperationId id = compensationOperationId(operation);
  if (!mutated(Mutant::compensateTwice)) return id;
  return {sha256(id.hex() + "|" + replica_.device())};
}

Result<Intent> SagaEngine::compensationIntent(std::string_view scope, const OperationId& operation) {
  WITAN_TRY(marks, marksOf(replica_, scope, operation));
  if (!marks.applied()) return inTheWay(operation, "was not carried out", "");
  const OperationBody& body = marks.record()->body;
  Intent intent;
  if (marks.journal.record) {
    intent.kind = EffectKind::journal;
    intent.tool = body.toolName;
    intent.arguments = "{}";
    for (const UndoStep& step : body.undo) intent.targets.push_back(step.key);
  } else if (body.toolName.starts_with("journal.")) {  // the two databases replicate apart
    return Error{ErrorCode::unavailable, "the journal's part of " + operation.hex() + " has not come yet",
                 "wait for it"};
  } else {
    WITAN_TRY(given, environment_.undoing(body));
    intent = std::move(given);
  }
  intent.operation = compensationOf(operation).value;
  intent.run = body.runKey;
  intent.agentId = body.agentId;
  intent.scope = scope;
  intent.compensates = operation.value;
  return intent;
}

Status SagaEngine::undo(std::string_view scope, const OperationId& operation, Now now) {
  auto intent = compensationIntent(scope, operation);
  if (!intent.ok()) return intent.error();
  const std::size_t before = sagas_.size();
  WITAN_DO(begin({&*intent, 1}, now));
  counters_.compensations += sagas_.size() - before;
  return okStatus();
}

// --- several plans for one run

Status SagaEngine::reconcile(std::string_view scope, const PlanView& view, Now now) {
  if (!view.winner || view.losers.empty()) return okStatus();
  for (const OperationId& operation : view.winner->operations) WITAN_DO(settle(scope, operation, true, now));
  // The last one first: it may stand on what the ones before it wrote.
  std::vector<OperationId> lost = operationsOnlyIn(view.losers, view.winner->operations);
  std::reverse(lost.begin(), lost.end());
  for (const OperationId& operation : lost) WITAN_DO(settle(scope, operation, false, now));
  return okStatus();
}

// An operation, its compensation, the compensation's compensation, and so on: as long as each was carried out. Its
// effect stands if the number of undoings is even. Which is wanted may change when an earlier plan turns up.
Status SagaEngine::settle(std::string_view scope, const OperationId& operation, bool wanted, Now now) {
  OperationId last = operation;
  for (int undoings = 0; undoings < kMaxUndoings; ++undoings) {
    const bool stands = undoings % 2 == 0;
    WITAN_TRY(marks, marksOf(replica_, scope, last));
    if (marks.any() && !marks.applied()) return okStatus();  // a person has ended it
    Saga* saga = at(last.value);
    if (saga != nullptr && !saga->ending && !marks.any() && stands != wanted && withdraw(*saga, now)) return okStatus();
    if (saga == nullptr || !saga->ending) WITAN_DO(setSuperseded(last, stands != wanted));
    if ((saga != nullptr && !saga->ending) || !marks.any())
      return okStatus();  // what is to follow follows from its end
    const OperationId next = compensationOf(last);
    WITAN_TRY(undone, marksOf(replica_, scope, next));
    WITAN_TRY(held, rows_.held(next));
    if (!undone.any() && !held && at(next.value) == nullptr) {
      if (stands == wanted) return okStatus();
      Status begun = undo(scope, last, now);
      if (!begun.ok() && begun.error().code == ErrorCode::unavailable) return okStatus();  // at the next reconcile()
      if (begun.ok() || begun.error().code != ErrorCode::conflict) return begun;
      noteCannotUndo(last, begun.error());
      return okStatus();
    }
    last = next;
  }
  return okStatus();
}

// Of one that is under way or put aside: whether it is undone when it ends.
Status SagaEngine::setSuperseded(const OperationId& operation, bool superseded) {
  if (Saga* saga = at(operation.value)) {
    if (saga->row.superseded == superseded) return okStatus();
    saga->row.superseded = superseded;
    rows_.putOpen(saga->row);
    return okStatus();
  }
  WITAN_TRY(held, rows_.held(operation));
  if (!held || held->superseded == superseded) return okStatus();
  held->superseded = superseded;
  rows_.hold(*held);
  return okStatus();
}

void SagaEngine::noteCannotUndo(const OperationId& operation, const Error& why) {
  replica_.note(
      {"cannotUndo", "", "operation " + operation.hex() + " of a plan that did not survive stays: " + why.message});
}

// Whether it could be ended before it had any effect.
bool SagaEngine::withdraw(Saga& saga, Now now) {
  if (saga.effectPending || saga.mayHaveActed) return false;
  saga.row.superseded = true;
  saga.row.outcome = OperationOutcome::denied;
  saga.row.result = R"({"error":"another plan of this run survives"})";
  if (!step(saga, SagaEvent::withdrawn, now)) return false;
  ++counters_.withdrawn;
  return true;
}

Status SagaEngine::reconcileAll(Now now) {
  for (const auto& [scope, space] : agents().spaces()) {
    std::vector<std::string> contested;
    space->table().visit([&](Record& record) {
      if (record.kind == Kind::plan && record.versions.size() > 1) contested.push_back(record.key);
      return true;
    });
    for (const std::string& key : contested) {
      auto run = RunKey::parse(key);
      if (!run.ok()) continue;
      WITAN_TRY(versions, space->versions(Kind::plan, key));
      WITAN_DO(reconcile(scope, planViewOf(*run, versions), now));
    }
  }
  return okStatus();
}

}  // namespace witan::saga
