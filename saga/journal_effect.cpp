#include "saga/journal_effect.h"

#include <algorithm>

namespace witan::saga {

using namespace replication;

namespace {

Error unsettled(const std::string& key) {
  return {ErrorCode::conflict, key + " was edited on several devices at once", "a person has to resolve it first"};
}

// `body` is null where nothing stands.
UndoStep undoStep(std::string_view scope, const std::string& key, const JournalBody* body) {
  UndoStep step{std::string(scope), key, {}, {}, std::nullopt};
  if (body == nullptr) return step;
  step.type = body->type;
  step.payload = body->payload;
  step.writtenBy = body->operationId;
  return step;
}

const JournalBody* shownOf(const JournalView& view) { return view.shown ? &*view.siblings[*view.shown].body : nullptr; }

bool changesNothing(const JournalChange& change, const JournalBody* shown) {
  if (shown == nullptr) return !change.body;
  return change.body && change.body->type == shown->type && change.body->payload == shown->payload;
}

Result<JournalCommit> commitOf(const Space& journal, std::string_view scope, const Intent& intent,
                               const std::vector<JournalChange>& changes, std::vector<UndoStep> undo, Outcome outcome,
                               std::span<const NotificationToken> tokens = {}) {
  JournalCommit commit{std::string(scope), {}, std::move(outcome)};
  if (!changes.empty()) {
    WITAN_TRY(writes, journalWrites(journal, changes, {}, tokens));
    commit.writes = std::move(writes);
  }
  WITAN_TRY(record, operationWrite(intent, commit.outcome, std::move(undo)));
  commit.writes.push_back(std::move(record));
  return commit;
}

// --- undoing

// The siblings of an entity, seen from an operation that wrote one of them.
struct Beside {
  const Sibling* own = nullptr;        // what the operation wrote
  std::vector<const Sibling*> others;  // each edit once
};

Beside splitFor(const OperationView& done, const JournalView& view) {
  Beside out;
  for (const Sibling& s : view.siblings) {
    const bool own = s.dot == done.record->dot ||
                     std::find(done.repeats.begin(), done.repeats.end(), s.dot) != done.repeats.end() ||
                     (s.body && s.body->operationId == done.record->body.operationId);
    if (own)
      out.own = &s;
    else if (std::none_of(out.others.begin(), out.others.end(), [&](const Sibling* o) { return sameEdit(*o, s); }))
      out.others.push_back(&s);
  }
  return out;
}

std::uint64_t nextLamport(const JournalView& view) {
  std::uint64_t lamport = 1;
  for (const Sibling& s : view.siblings)
    if (s.body) lamport = std::max(lamport, s.body->lamport + 1);
  return lamport;
}

// What stands after the undoing; none: nothing does. It says by which operation it was written, so that two devices
// that undo alike make one edit, and an earlier operation's own undoing finds what that wrote.
std::optional<JournalBody> restored(const Intent& intent, const UndoStep& step, const Beside& beside,
                                    std::int64_t nowMs) {
  if (!beside.others.empty()) {
    std::optional<JournalBody> body = beside.others.front()->body;
    if (body) body->resolves.clear();
    return body;
  }
  if (step.type.empty()) return std::nullopt;
  return JournalBody{step.type, step.payload, 0, intent.agentId, nowMs, step.writtenBy.value_or(intent.operation), {}};
}

Result<JournalChange> undoing(const Intent& intent, const OperationView& done, const UndoStep& step,
                              const JournalView& view, const Beside& beside, std::int64_t nowMs) {
  if (beside.own == nullptr || !view.unreadable.empty())
    return Error{ErrorCode::conflict,
                 step.key + " was edited after operation " + OperationId{done.record->body.operationId}.hex(),
                 "a person has to decide what it should say"};
  if (beside.others.size() > 1) return unsettled(step.key);
  JournalChange change{step.key, restored(intent, step, beside, nowMs), "", ChangeOrigin::local};
  if (change.body)
    change.body->lamport = nextLamport(view);
  else if (const JournalBody* shown = shownOf(view))
    change.type = shown->type;
  return change;
}

}  // namespace

Result<Write> operationWrite(const Intent& intent, const Outcome& outcome, std::vector<UndoStep> undo) {
  OperationBody body{intent.operation, intent.run,     intent.agentId,  intent.tool,
                     outcome.outcome,  outcome.result, std::move(undo), intent.compensates};
  WITAN_TRY(bytes, encodeRecord(body));
  return Write{Kind::operation, intent.id().hex(), std::move(bytes), false};
}

Result<JournalCommit> journalCommit(Space& journal, const Intent& intent, JournalEffect effect) {
  if (effect.changes.size() > kMaxEntityChanges)
    return invalid("an operation changes at most " + std::to_string(kMaxEntityChanges) + " entities, this one " +
                   std::to_string(effect.changes.size()));
  const std::string& scope = effect.scope.empty() ? intent.scope : effect.scope;
  std::vector<JournalChange> changes;
  std::vector<UndoStep> undo;
  for (JournalChange& change : effect.changes) {
    WITAN_TRY(view, journalViewIn(journal, change.id));
    if (view.inConflict()) return unsettled(change.id);
    const JournalBody* shown = shownOf(view);
    if (changesNothing(change, shown)) continue;
    undo.push_back(undoStep(scope, change.id, shown));
    if (change.body) change.body->operationId = intent.operation;
    changes.push_back(std::move(change));
  }
  return commitOf(journal, scope, intent, changes, std::move(undo),
                  {OperationOutcome::applied, std::move(effect.result)}, effect.tokens);
}

Result<JournalCommit> undoCommit(Space& journal, std::string_view scope, const Intent& intent,
                                 const OperationView& done, std::int64_t nowMs) {
  WITAN_CHECK(done.record.has_value(), "only what was carried out is undone");
  std::vector<JournalChange> changes;
  std::vector<UndoStep> undo;
  for (const UndoStep& step : done.record->body.undo) {
    if (step.scope != scope)
      return Error{ErrorCode::conflict, step.key + " is in scope " + step.scope + ", not " + std::string(scope), ""};
    WITAN_TRY(view, journalViewIn(journal, step.key));
    const Beside beside = splitFor(done, view);
    WITAN_TRY(change, undoing(intent, done, step, view, beside, nowMs));
    undo.push_back(undoStep(scope, step.key, beside.own->body ? &*beside.own->body : nullptr));
    changes.push_back(std::move(change));
  }
  const std::string id = OperationId{done.record->body.operationId}.hex();
  return commitOf(journal, scope, intent, changes, std::move(undo),
                  {OperationOutcome::applied, "{\"undone\":\"" + id + "\"}"});
}

}  // namespace witan::saga
