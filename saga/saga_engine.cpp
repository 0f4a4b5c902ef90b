#include "saga/saga_engine.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/mutant.h"
#include "base/utf8.h"
#include "saga/operation_marks.h"

namespace witan::saga {

using namespace replication;

namespace {

bool mayPass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::ioFailed || error.code == ErrorCode::corrupt;
}

std::string wordsOf(const Error& error) {
  std::string words = error.message;
  if (!error.hint.empty()) words += ": " + error.hint;
  return std::string(clip(words, kMaxErrorBytes));
}

// Whether the agents' records say the outcome already. Another device may have been refused what was carried out here:
// its record, which arrived meanwhile, must not stand alone.
Result<bool> isSaid(LocalReplica& replica, const Intent& intent, std::string_view hex, OperationOutcome outcome) {
  if (!agentsHave(replica, intent.scope, hex)) return false;
  if (outcome != OperationOutcome::applied) return true;
  WITAN_TRY(marks, marksOf(replica, intent.scope, intent.id()));
  return !marks.agents.record || marks.agents.record->body.outcome == OperationOutcome::applied;
}

}  // namespace

SagaEngine::SagaEngine(LocalReplica& replica, SagaEnvironment& environment, SagaOptions options)
    : replica_(replica),
      environment_(environment),
      options_(options),
      rows_(replica.database(DatabaseName::agents), options.keepDone) {}

SagaEngine::Saga* SagaEngine::at(const Hash& operation) {
  const auto found = sagas_.find(operation);
  return found == sagas_.end() ? nullptr : &found->second;
}

const SagaRow* SagaEngine::find(const OperationId& operation) const {
  const auto found = sagas_.find(operation.value);
  return found == sagas_.end() ? nullptr : &found->second.row;
}

// --- beginning

Status SagaEngine::load(Now now) {
  const auto goOn = [&](SagaRow&& row) {
    const Hash operation = row.intent.operation;
    const bool waits = row.status == SagaStatus::backoff;
    Saga saga{std::move(row), OperationId{operation}.hex(), 0, false, false, false};
    saga.mayHaveActed = saga.row.intent.kind != EffectKind::journal;
    saga.called = saga.mayHaveActed;
    if (mutated("recordBeforeApply") && saga.row.phase == SagaPhase::intended) {
      saga.row.phase = SagaPhase::recording;
      saga.row.result = "null";
    }
    if (mutated("forgetAttempts")) saga.row.attempts = 0;
    if (waits) {
      // A wall clock that jumped must not hold it for ever.
      const std::int64_t left = saga.row.nextAttemptAtMs - now.wallMs();
      saga.dueMs =
          now.ms + (mutated("backoffByClock") ? left : std::clamp<std::int64_t>(left, 0, options_.lastBackoffMs));
      due_.emplace(saga.dueMs, operation);
    } else {
      ready_.push_back(operation);
    }
    sagas_.insert_or_assign(operation, std::move(saga));
    ++counters_.recovered;
  };
  WITAN_DO(rows_.visitOpen(goOn));
  return mutated("beginAgain") ? rows_.visitHeld(goOn) : okStatus();
}

Status SagaEngine::begin(std::span<const Intent> intents, Now now) {
  for (const Intent& intent : intents)
    if (Status ok = checkIntent(intent); !ok.ok())
      return invalid("operation " + intent.id().hex() + ": " + ok.error().message, ok.error().hint);
  if (sagas_.size() + intents.size() > kMaxOpenSagas)
    return unavailable(concat(sagas_.size(), " sagas are open, no more fit"),
                       "they end by themselves; see: witan saga list");
  std::vector<const Intent*> fresh;
  for (const Intent& intent : intents) {
    WITAN_TRY(repeated, known(intent, now));
    if (!repeated) fresh.push_back(&intent);
  }
  for (const Intent* intent : fresh) start(*intent, now);
  return okStatus();
}

// Whether this device has it under way already.
Result<bool> SagaEngine::known(const Intent& intent, Now) {
  if (at(intent.operation) != nullptr) {
    ++counters_.repeated;
    return true;
  }
  WITAN_TRY(held, rows_.held(intent.id()));
  if (!held) return false;
  ++counters_.repeated;
  environment_.parked(*held);
  return true;
}

void SagaEngine::start(const Intent& intent, Now now) {
  SagaRow row;
  row.intent = intent;
  row.createdAtMs = row.updatedAtMs = now.wallMs();
  const auto [place, fresh] =
      sagas_.emplace(intent.operation, Saga{std::move(row), intent.id().hex(), 0, false, false, false});
  if (!fresh) return;  // twice in one call
  rows_.putOpen(place->second.row);
  ++counters_.begun;
  if (mutated("ackBeforeRow")) {
    step(place->second, SagaEvent::rowDurable, now);
    return;
  }
  intended_.push_back({agents().mark(), intent.operation});
}

// --- what has become durable

void SagaEngine::journalDurable(Now now) {
  const std::uint64_t durable = journal().durable();
  while (!applied_.empty() && applied_.front().mark <= durable) {
    const Hash operation = applied_.front().operation;
    applied_.pop_front();
    Saga* saga = at(operation);
    if (saga == nullptr) continue;
    saga->effectPending = false;
    carriedOut(*saga, {saga->row.outcome, saga->row.result}, now);
  }
  startReady(now);
}

void SagaEngine::agentsDurable(Now now) {
  const std::uint64_t durable = agents().durable();
  while (!intended_.empty() && intended_.front().mark <= durable) {
    ready_.push_back(intended_.front().operation);
    intended_.pop_front();
  }
  while (!recorded_.empty() && recorded_.front().mark <= durable) {
    const Hash operation = recorded_.front().operation;
    recorded_.pop_front();
    if (Saga* saga = at(operation)) step(*saga, SagaEvent::outcomeDurable, now);
  }
  startReady(now);
}

void SagaEngine::startReady(Now now) {
  while (!ready_.empty() && applied_.size() + recorded_.size() < options_.maxInFlight) {
    const Hash operation = ready_.front();
    ready_.pop_front();
    Saga* saga = at(operation);
    if (saga == nullptr || saga->effectPending || saga->ending) continue;
    step(*saga, saga->row.phase == SagaPhase::intended ? SagaEvent::rowDurable : SagaEvent::due, now);
  }
}

void SagaEngine::tick(Now now) {
  for (std::size_t i = 0; i < options_.retriesPerRound && !due_.empty() && due_.begin()->first <= now.ms; ++i) {
    const Hash operation = due_.begin()->second;
    due_.erase(due_.begin());
    ++counters_.retries;
    if (Saga* saga = at(operation)) step(*saga, SagaEvent::due, now);
  }
  startReady(now);
}

std::int64_t SagaEngine::nextTickMs() const {
  if (!ready_.empty()) return 0;
  return due_.empty() ? std::numeric_limits<std::int64_t>::max() : due_.begin()->first;
}

// --- the machine

// May end the saga: it is not to be touched afterwards. False: the event made no sense.
bool SagaEngine::step(Saga& saga, SagaEvent event, Now now) {
  const Transition to = transition(saga.row.phase, event);
  if (to.act == SagaAct::refuse) return false;
  enter(saga, to, now);
  return true;
}

void SagaEngine::enter(Saga& saga, const Transition& to, Now now) {
  saga.row.phase = to.phase;
  saga.row.status = to.status;
  saga.row.updatedAtMs = now.wallMs();
  switch (to.act) {
    case SagaAct::apply: return apply(saga, now);
    case SagaAct::record: return record(saga, now);
    case SagaAct::wait: return wait(saga, now);
    case SagaAct::park: return park(saga, now);
    case SagaAct::finish: return finish(saga, now);
    case SagaAct::refuse:
    case SagaAct::keep: return;
  }
}

void SagaEngine::apply(Saga& saga, Now now) {
  const Intent& intent = saga.row.intent;
  const bool marked = journalHas(replica_, saga.hex) || agentsHave(replica_, intent.scope, saga.hex);
  if (marked && !mutated("skipMarkerCheck")) {
    auto marks = marksOf(replica_, intent.scope, intent.id());
    if (!marks.ok()) return failed(saga, marks.error(), false, now);
    if (auto outcome = marks->outcome()) {
      ++counters_.found;
      return awaitJournal(saga, *std::move(outcome));
    }
  }
  intent.kind == EffectKind::journal ? applyToJournal(saga, now) : call(saga, now);
}

void SagaEngine::applyToJournal(Saga& saga, Now now) {
  auto commit = journalCommitOf(saga, now);
  if (!commit.ok()) return ended(saga, commit.error(), now);
  if (mutated("skipMarkerCheck") && journalHas(replica_, saga.hex))
    commit->writes.pop_back();  // the record stands there already, and never changes
  if (mutated("linkInJournal")) {
    const LinkBody link{"link-" + saga.hex, saga.row.intent.agentId, "m-1", "m-2", "effect"};
    commit->writes.insert(commit->writes.begin(), {Kind::link, link.id, encodeRecord(link).value(), false});
  }
  if (!commit->writes.empty()) {
    auto dot = replica_.commit(DatabaseName::journal, commit->scope, commit->writes);
    if (!dot.ok()) return ended(saga, dot.error(), now);
  }
  awaitJournal(saga, std::move(commit->outcome));
}

// The effect that was done or found may still have to become durable.
void SagaEngine::awaitJournal(Saga& saga, Outcome outcome) {
  saga.row.outcome = outcome.outcome;
  saga.row.result = std::move(outcome.result);
  saga.effectPending = true;
  applied_.push_back({journal().mark(), saga.row.intent.operation});
}

Result<JournalCommit> SagaEngine::journalCommitOf(const Saga& saga, Now now) {
  const Intent& intent = saga.row.intent;
  if (!intent.compensates) {
    WITAN_TRY(effect, environment_.journalEffect(saga.row));
    WITAN_TRY(space, journal().space(effect.scope.empty() ? intent.scope : effect.scope));
    return journalCommit(*space, intent, std::move(effect));
  }
  WITAN_TRY(marks, marksOf(replica_, intent.scope, {*intent.compensates}));
  if (!marks.journal.record) return unavailable("what is to be undone has not arrived in the journal");
  WITAN_TRY(space, journal().space(marks.journalScope));
  WITAN_TRY(done, recordsOf(*space, {*intent.compensates}));
  return undoCommit(*space, marks.journalScope, intent, done, now.wallMs());
}

void SagaEngine::call(Saga& saga, Now now) {
  const Intent& intent = saga.row.intent;
  if (mutated("assumeCalled") && saga.called && saga.row.attempts == 0 && !saga.insisted)
    return carriedOut(saga, {OperationOutcome::applied, "null"}, now);
  // A person's word waits once for those of other devices, by the clock of the rounds: who passes it on has another
  // one.
  const std::int64_t hearing = intent.kind == EffectKind::tool ? environment_.hearingMs() : 0;
  if (saga.insisted && saga.dueMs == 0 && hearing > 0) {
    saga.dueMs = now.ms + hearing;
    due_.emplace(saga.dueMs, intent.operation);
    return;
  }
  if (std::exchange(saga.insisted, false)) {
    const auto first = goesFirst(intent);
    if (!first.ok()) return failed(saga, first.error(), true, now);
    if (!first->empty()) return failed(saga, conflict("uncertain: " + *first), true, now);
    saga.again = true;
  } else if (const std::string why = environment_.uncertain(saga.row, saga.called); !why.empty()) {
    return failed(saga, conflict(why), true, now);
  }
  saga.called = true;
  saga.mayHaveActed = true;
  saga.row.status = SagaStatus::waiting;
  const Hash operation = saga.row.intent.operation;
  Status begun = environment_.call(saga.row, now);
  // It may have been answered from within.
  Saga* still = at(operation);
  if (!begun.ok() && still != nullptr && still->row.phase == SagaPhase::applying) ended(*still, begun.error(), now);
}

SagaEngine::Saga* SagaEngine::calledNow(const OperationId& operation) {
  Saga* saga = at(operation.value);
  if (saga == nullptr || saga->row.phase != SagaPhase::applying || saga->effectPending ||
      saga->row.intent.kind == EffectKind::journal)
    return nullptr;
  due_.erase({saga->dueMs, operation.value});
  return saga;
}

void SagaEngine::doubted(const OperationId& operation, const Error& why, Now now) {
  if (Saga* saga = calledNow(operation)) failed(*saga, why, true, now);
}

void SagaEngine::waits(const OperationId& operation, std::string_view why) {
  Saga* saga = at(operation.value);
  if (saga == nullptr || saga->row.status != SagaStatus::waiting) return;
  saga->row.lastError = clip(why, kMaxErrorBytes);
  rows_.putOpen(saga->row);
}

void SagaEngine::answered(const OperationId& operation, const Result<Outcome>& outcome, Now now) {
  Saga* saga = calledNow(operation);
  if (saga == nullptr) return;
  outcome.ok() ? carriedOut(*saga, *outcome, now) : ended(*saga, outcome.error(), now);
}

void SagaEngine::carriedOut(Saga& saga, Outcome outcome, Now now) {
  saga.row.outcome = outcome.outcome;
  saga.row.result = std::move(outcome.result);
  step(saga, SagaEvent::carriedOut, now);
}

void SagaEngine::ended(Saga& saga, const Error& error, Now now) {
  saga.called = false;
  if (mayPass(error) || mutated("retryRefused")) return failed(saga, error, false, now);
  // Only a person knows what an entity should say that somebody has edited since.
  if (saga.row.intent.compensates) return failed(saga, error, true, now);
  Outcome outcome = refusal(error);
  if (error.code == ErrorCode::unauthorised) outcome.outcome = OperationOutcome::denied;
  saga.row.lastError = wordsOf(error);
  carriedOut(saga, std::move(outcome), now);
}

void SagaEngine::failed(Saga& saga, const Error& error, bool forGood, Now now) {
  ++saga.row.attempts;
  saga.row.lastError = wordsOf(error);
  const bool last = forGood || (saga.row.attempts >= options_.maxAttempts && !mutated("endlessPoison"));
  step(saga, last ? SagaEvent::exhausted : SagaEvent::failed, now);
}

void SagaEngine::record(Saga& saga, Now now) {
  if (Status done = commitOutcome(saga, now); !done.ok()) return failed(saga, done.error(), false, now);
  recorded_.push_back({agents().mark(), saga.row.intent.operation});
}

// One commit and, in the same batch, the end of the row.
Status SagaEngine::commitOutcome(Saga& saga, Now now) {
  const Intent& intent = saga.row.intent;
  const Outcome outcome{saga.row.outcome, saga.row.result};
  WITAN_DO(rows_.prepare());
  WITAN_TRY(writes, outcomeWrites(saga, outcome));
  if (!writes.empty()) WITAN_DO(replica_.commit(DatabaseName::agents, intent.scope, writes));
  saga.ending = true;
  SagaRow end = saga.row;
  end.phase = SagaPhase::done;
  end.status = endOf(outcome.outcome);
  end.updatedAtMs = now.wallMs();
  rows_.end(end);
  if (outcome.outcome != OperationOutcome::applied) return okStatus();
  // One that ends once more may have been undone by then.
  WITAN_TRY(undone, marksOf(replica_, intent.scope, compensationOf(intent.id())));
  if (undone.agents.record && undone.agents.record->body.outcome == OperationOutcome::applied)
    rows_.noteUndone(intent.id(), now.wallMs());
  if (intent.compensates) rows_.noteUndone({*intent.compensates}, now.wallMs());
  if (!saga.row.superseded) return okStatus();
  // The undoing of a compensation undoes those that follow it too.
  const OperationId next = intent.compensates ? compensationOf({*intent.compensates}) : intent.id();
  if (Status begun = undo(intent.scope, next, now); !begun.ok()) noteCannotUndo(next, begun.error());
  return okStatus();
}

Result<std::vector<Write>> SagaEngine::outcomeWrites(const Saga& saga, const Outcome& outcome) {
  const Intent& intent = saga.row.intent;
  WITAN_TRY(writes, environment_.record(saga.row, outcome));
  WITAN_TRY(space, agents().space(intent.scope));
  std::erase_if(writes, [&](const Write& write) {
    return !write.tombstone && write.kind != Kind::batch && !traitsOf(write.kind).register_ &&
           space->table().find(write.kind, write.key) != nullptr;
  });
  // One that was withdrawn has had no effect, and may yet be carried out if another plan wins.
  const bool withdrawn = saga.row.superseded && outcome.outcome == OperationOutcome::denied;
  WITAN_TRY(said, isSaid(replica_, intent, saga.hex, outcome.outcome));
  if (!withdrawn && !said) {
    WITAN_TRY(mark, operationWrite(intent, outcome, {}));
    writes.push_back(std::move(mark));
  }
  // What another device carried out too has its record, which never changes.
  if (said && saga.again && outcome.outcome == OperationOutcome::applied)
    writes.push_back(againWrite(intent, replica_.device()));
  return writes;
}

void SagaEngine::finish(Saga& saga, Now now) {
  saga.row.status = endOf(saga.row.outcome);
  saga.row.updatedAtMs = now.wallMs();
  const SagaRow row = std::move(saga.row);
  forget(row.intent.operation);
  switch (row.outcome) {
    case OperationOutcome::applied: ++counters_.completed; break;
    case OperationOutcome::denied: ++counters_.denied; break;
    case OperationOutcome::failed: ++counters_.failed; break;
  }
  environment_.finished(row);
}

void SagaEngine::park(Saga& saga, Now) {
  rows_.hold(saga.row);
  ++counters_.parked;
  const SagaRow row = std::move(saga.row);
  forget(row.intent.operation);
  environment_.parked(row);
}

void SagaEngine::wait(Saga& saga, Now now) {
  const std::int64_t delay = backoffMs(saga.row);
  saga.dueMs = now.ms + delay;
  saga.row.nextAttemptAtMs = now.wallMs() + delay;
  rows_.putOpen(saga.row);
  due_.emplace(saga.dueMs, saga.row.intent.operation);
}

// Full jitter over the upper half of the backoff: what failed together does not come back together.
std::int64_t SagaEngine::backoffMs(const SagaRow& row) const {
  const std::int64_t whole =
      std::min(options_.lastBackoffMs, options_.firstBackoffMs << std::min(row.attempts - 1, 20u));
  const Hash hash = sha256(concat(row.id().hex(), "|", row.attempts));
  return whole / 2 + (hash[0] << 8 | hash[1]) * (whole / 2) / 65'536;
}

void SagaEngine::forget(const Hash& operation) {
  const auto found = sagas_.find(operation);
  if (found == sagas_.end()) return;
  due_.erase({found->second.dueMs, operation});
  sagas_.erase(found);
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
    return unavailable("the journal's part of " + operation.hex() + " has not come yet", "wait for it");
  } else {
    WITAN_SET(intent, environment_.compensation(body));
  }
  intent.operation = compensationOf(operation).value;
  intent.run = body.runKey;
  intent.agentId = body.agentId;
  intent.scope = scope;
  intent.compensates = operation.value;
  intent.hops = body.hops;
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
  std::vector<OperationId> lost = operationsToUndo(view);
  if (!mutated("undoInOrder")) std::ranges::reverse(lost);
  std::set<std::string> awaited;  // entities
  for (const OperationId& operation : lost) {
    WITAN_TRY(touched, touchedBy(scope, operation));
    const bool waits = std::ranges::any_of(touched, [&](const std::string& one) { return awaited.contains(one); });
    if (!waits) WITAN_DO(settle(scope, operation, false, now));
    WITAN_TRY(comes, undoingComes(scope, operation));
    if (waits || comes) awaited.insert(touched.begin(), touched.end());  // at the next reconcile()
  }
  return okStatus();
}

// The entities that it changed, as the journal has it.
Result<std::vector<std::string>> SagaEngine::touchedBy(std::string_view scope, const OperationId& operation) {
  WITAN_TRY(marks, marksOf(replica_, scope, operation));
  std::vector<std::string> touched;
  if (marks.journal.record)
    for (const UndoStep& step : marks.journal.record->body.undo) touched.push_back(step.key);
  return touched;
}

// Whether another device has undone it, and what that did to the entities is still to come to the journal: they show
// it until then.
Result<bool> SagaEngine::undoingComes(std::string_view scope, const OperationId& operation) {
  if (mutated("undoBelow")) return false;
  WITAN_TRY(marks, marksOf(replica_, scope, compensationOf(operation)));
  return marks.applied() ? journalMayCome(replica_, scope, marks) : Result<bool>(false);
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
    WITAN_DO(undoFurther(scope, levels[n - 2].front(), levels[n - 1], now));
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

Status SagaEngine::undoFurther(std::string_view scope, const OperationId& undone,
                               std::span<const OperationId> compensations, Now now) {
  WITAN_TRY(marks, marksOf(replica_, scope, undone));
  if (!marks.journal.record) return okStatus();  // no effect of it could show
  for (const OperationId& one : compensations) {
    WITAN_TRY(its, marksOf(replica_, scope, one));
    WITAN_TRY(comes, journalMayCome(replica_, scope, its));
    if (comes) return okStatus();  // at the next reconcile()
  }
  WITAN_TRY(space, journal().space(marks.journalScope));
  WITAN_TRY(done, recordsOf(*space, undone));
  WITAN_TRY(shows, stillShows(*space, done));
  if (!shows) return okStatus();
  WITAN_TRY(intent, compensationIntent(scope, undone));
  intent.operation = nextCompensation(compensations.back()).value;
  const std::size_t before = sagas_.size();
  WITAN_DO(begin({&intent, 1}, now));
  counters_.compensations += sagas_.size() - before;
  return okStatus();
}

Status SagaEngine::undoAgain(std::string_view scope, const OperationId& operation, Now now) {
  WITAN_TRY(levels, compensationsOf(scope, operation));
  return levels.size() % 2 == 0 ? settle(scope, operation, false, now) : okStatus();
}

// Decides whether an operation that is under way or put aside is undone when it ends.
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
      if (record.kind == Kind::plan && record.versions.size() > 1) contested.emplace_back(record.key());
      return true;
    });
    for (const std::string& key : contested) {
      auto run = RunKey::parse(key);
      if (!run.ok()) continue;
      WITAN_TRY(view, planViewIn(*space, *run));
      WITAN_DO(reconcile(scope, view, now));
    }
  }
  return okStatus();
}

}  // namespace witan::saga
