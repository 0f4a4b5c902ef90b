// What people ask of sagas, and what several plans for one run ask: trying again, compensation, withdrawing.
#include <algorithm>

#include "base/mutant.h"
#include "saga/compensations.h"
#include "saga/saga_engine.h"

namespace witan::saga {

using namespace replication;

namespace {

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
  if (!undone.any()) return undo(*scope, operation, now);
  const std::size_t before = sagas_.size();
  WITAN_DO(undoAgain(*scope, operation, now));
  return sagas_.size() > before ? okStatus() : inTheWay(operation, "was compensated before", "");
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

// --- compensation

OperationId SagaEngine::compensationOf(const OperationId& operation) const {
  const OperationId id = compensationOperationId(operation);
  if (!mutated("compensateTwice")) return id;
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
    WITAN_TRY(given, environment_.compensation(body));
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

// As long as each was carried out: the operation's effect stands if the number of compensations is even. Which is
// wanted may change when an earlier plan turns up.
Status SagaEngine::settle(std::string_view scope, const OperationId& operation, bool wanted, Now now) {
  WITAN_TRY(levels, compensationsOf(scope, operation));
  bool stands = true;
  for (const std::vector<OperationId>& level : levels) {
    for (const OperationId& one : level) {
      WITAN_TRY(over, isOver(scope, one, stands != wanted, now));
      if (!over) return okStatus();  // what is to follow follows from its end
    }
    stands = !stands;
  }
  stands = !stands;  // says the last of them
  if (stands != wanted) return undoOrNote(scope, levels.back().front(), now);
  // Those before the last but one are undone, or stand, as that one is or does.
  for (std::size_t n = levels.size(); n >= 2 && !mutated("undoOnce"); n -= 2)
    WITAN_DO(undoFurther(scope, levels[n - 2].front(), levels[n - 1].back(), now));
  return okStatus();
}

// Whether it was carried out, for good. One that need not be any more is withdrawn, if it can be.
Result<bool> SagaEngine::isOver(std::string_view scope, const OperationId& operation, bool superseded, Now now) {
  WITAN_TRY(marks, marksOf(replica_, scope, operation));
  if (marks.any() && !marks.applied()) return false;  // a person has ended it
  Saga* saga = at(operation.value);
  const bool underWay = saga != nullptr && !saga->ending;
  if (underWay && !marks.any() && superseded && withdraw(*saga, now)) return false;
  if (underWay || saga == nullptr) WITAN_DO(setSuperseded(operation, superseded));
  return !underWay && marks.any();
}

// Here or anywhere.
Result<bool> SagaEngine::isKnown(std::string_view scope, const OperationId& operation) {
  if (at(operation.value) != nullptr) return true;
  WITAN_TRY(marks, marksOf(replica_, scope, operation));
  if (marks.any()) return true;
  WITAN_TRY(held, rows_.held(operation));
  return held.has_value();
}

Result<std::vector<std::vector<OperationId>>> SagaEngine::compensationsOf(std::string_view scope,
                                                                          const OperationId& operation) {
  std::vector<std::vector<OperationId>> levels{{operation}};
  while (levels.size() < kMaxUndoings) {
    std::vector<OperationId> level;
    for (OperationId one = compensationOf(levels.back().front()); level.size() < kMaxUndoings;
         one = nextCompensation(one)) {
      WITAN_TRY(known, isKnown(scope, one));
      if (!known) break;
      level.push_back(one);
    }
    if (level.empty()) break;
    levels.push_back(std::move(level));
  }
  return levels;
}

Status SagaEngine::undoOrNote(std::string_view scope, const OperationId& operation, Now now) {
  Status begun = undo(scope, operation, now);
  if (!begun.ok() && begun.error().code == ErrorCode::unavailable) return okStatus();  // at the next reconcile()
  if (begun.ok() || begun.error().code != ErrorCode::conflict) return begun;
  noteCannotUndo(operation, begun.error());
  return okStatus();
}

Status SagaEngine::undoFurther(std::string_view scope, const OperationId& undone, const OperationId& last, Now now) {
  WITAN_TRY(marks, marksOf(replica_, scope, undone));
  if (!marks.journal.record) return okStatus();  // no effect of it could show
  WITAN_TRY(space, journal().space(marks.journalScope));
  WITAN_TRY(done, recordsOf(*space, undone));
  WITAN_TRY(shows, stillShows(*space, done));
  if (!shows) return okStatus();
  WITAN_TRY(intent, compensationIntent(scope, undone));
  intent.operation = nextCompensation(last).value;
  const std::size_t before = sagas_.size();
  WITAN_DO(begin({&intent, 1}, now));
  counters_.compensations += sagas_.size() - before;
  return okStatus();
}

Status SagaEngine::undoAgain(std::string_view scope, const OperationId& operation, Now now) {
  WITAN_TRY(levels, compensationsOf(scope, operation));
  return levels.size() % 2 == 0 ? settle(scope, operation, false, now) : okStatus();
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
