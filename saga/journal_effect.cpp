#include "saga/journal_effect.h"

#include <algorithm>

#include "base/mutant.h"
#include "replication/records/record_write.h"
#include "saga/operation_marks.h"

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

// `claimed`: entities that say already what the operation wants. It writes them again as its own, so that they do not
// go with the other operation that wrote them; nobody is woken by that.
Result<JournalCommit> commitOf(const Space& journal, std::string_view scope, const Intent& intent,
                               const std::vector<JournalChange>& changes, std::vector<UndoStep> undo, Outcome outcome,
                               const std::vector<JournalChange>& claimed = {},
                               std::span<const NotificationToken> tokens = {}) {
  JournalCommit commit{std::string(scope), {}, std::move(outcome)};
  if (!changes.empty()) {
    WITAN_SET(commit.writes, journalWrites(journal, changes, {}, tokens));
  }
  for (const JournalChange& claim : claimed) {
    WITAN_TRY(write, recordWrite(claim.id, *claim.body));
    commit.writes.push_back(std::move(write));
  }
  WITAN_TRY(record, operationWrite(intent, commit.outcome, std::move(undo)));
  commit.writes.push_back(std::move(record));
  return commit;
}

// --- compensation

// With what readers leave out (journalViewIn): each version of an operation is undone.
Result<JournalView> wholeView(Space& journal, const std::string& key) {
  WITAN_TRY(versions, journal.versions(Kind::journal, key));
  return journalViewOf(versions);
}

// The siblings of an entity, seen from an operation that wrote one of them.
struct Beside {
  const Sibling* own = nullptr;        // what the operation wrote
  std::vector<const Sibling*> others;  // each edit once
  std::vector<Dot> dots;               // of the others, all
};

Beside splitFor(const OperationView& done, const JournalView& view) {
  Beside out;
  for (const Sibling& s : view.siblings) {
    const bool own = s.dot == done.record->dot || std::ranges::find(done.repeats, s.dot) != done.repeats.end() ||
                     (s.body && s.body->operationId == done.record->body.operationId);
    if (own) {
      out.own = &s;
      continue;
    }
    out.dots.push_back(s.dot);
    if (std::ranges::none_of(out.others, [&](const Sibling* o) { return sameEdit(*o, s); })) out.others.push_back(&s);
  }
  return out;
}

std::uint64_t nextLamport(const JournalView& view) {
  std::uint64_t lamport = 1;
  for (const Sibling& s : view.siblings)
    if (s.body) lamport = std::max(lamport, s.body->lamport + 1);
  return lamport;
}

// The body that stands after the compensation; none: nothing does. It says by which operation it was written, so that
// two devices that undo alike make one edit, and an earlier operation's own compensation finds what that wrote.
std::optional<JournalBody> restored(const Intent& intent, const UndoStep& step, const Beside& beside,
                                    std::int64_t nowMs) {
  if (!beside.others.empty()) {
    std::optional<JournalBody> body = beside.others.front()->body;
    if (body) body->resolves.clear();
    return body;
  }
  if (step.type.empty() || mutated("undoToNothing")) return std::nullopt;
  return JournalBody{step.type, step.payload, 0, intent.agentId, nowMs, step.writtenBy.value_or(intent.operation), {}};
}

// Whether it follows a compensation of the same operation.
bool isFurther(Space& journal, const Intent& intent) {
  const OperationId first = compensationOperationId({*intent.compensates});
  return intent.id() != first && journal.table().find(Kind::operation, first.hex()) != nullptr;
}

// Nothing stands where a compensation had left nothing; what said so is forgotten once everybody knows it.
Result<bool> leftNothing(Space& journal, const OperationView& done, const std::string& key, const JournalView& view) {
  if (!view.siblings.empty() || !view.unreadable.empty() || !done.record->body.compensates) return false;
  WITAN_TRY(undone, recordsOf(journal, {*done.record->body.compensates}));
  if (!undone.record) return false;
  const std::vector<UndoStep>& steps = undone.record->body.undo;
  return std::ranges::any_of(steps, [&](const UndoStep& step) { return step.key == key && step.type.empty(); });
}

// Whether all devices that carried it out found the same there. What one of them wrote over, and nobody else saw, must
// not go without a word.
Result<bool> stoodAlike(Space& journal, const OperationView& done, const UndoStep& step) {
  WITAN_TRY(versions, journal.versions(Kind::operation, OperationId{done.record->body.operationId}.hex()));
  for (const Version& version : versions) {
    auto body = decodeRecord<OperationBody>(version.body);
    if (!body.ok()) continue;
    for (const UndoStep& other : body->undo)
      if (other.key == step.key && other != step) return false;
  }
  return true;
}

// Whether what the entity says is claimed by an operation that found it as `done` had written it, or by one that found
// it so in turn. Then it stays.
Result<bool> isClaimed(Space& journal, const OperationView& done, const std::string& key, const JournalView& view) {
  for (const Sibling& s : view.siblings) {
    std::optional<Hash> by = s.body ? s.body->operationId : std::nullopt;
    for (std::size_t n = 0; by && n < kMaxUndoings; ++n) {
      WITAN_TRY(found, recordsOf(journal, {*by}));
      by.reset();
      for (std::size_t i = 0; found.record && i < found.record->body.undo.size(); ++i)
        if (const UndoStep& step = found.record->body.undo[i];
            step.key == key && step.type == s.body->type && step.payload == s.body->payload)
          by = step.writtenBy;
      if (by == done.record->body.operationId) return true;
    }
  }
  return false;
}

// Whether the one edit that would stay was made without what the operation had written over: that would go without a
// word. Numbers of edits grow with what their authors had seen; where they do not tell, contexts do.
Result<bool> knewLess(Space& journal, const OperationView& done, const Beside& beside, const UndoStep& step) {
  if (step.type.empty() || beside.own == nullptr || !beside.own->body || beside.others.empty()) return false;
  const std::optional<JournalBody>& other = beside.others.front()->body;
  if (other && other->type == step.type && other->payload == step.payload) return false;
  if (other && other->lamport < beside.own->body->lamport) return true;
  OperationView before;
  if (step.writtenBy) {
    WITAN_SET(before, recordsOf(journal, {*step.writtenBy}));
  }
  // Of the same run: it is undone too, or the plan that survives has it.
  if (before.record && before.record->body.runKey == done.record->body.runKey) return false;
  WITAN_TRY(versions, journal.versions(Kind::journal, step.key));
  const auto own = std::ranges::find(versions, beside.own->dot, &Version::dot);
  const auto saw = [&](const Version& one) {
    const auto covers = [&](const Dot& dot) { return one.context.covers(dot); };
    if (before.record) return covers(before.record->dot) || std::ranges::any_of(before.repeats, covers);
    // A person's: those who share nothing with the operation had not seen it.
    return own == versions.end() || std::ranges::any_of(own->context.entries(), [&](const VectorClock::Entry& entry) {
             return one.context.at(entry.first) > 0;
           });
  };
  return std::ranges::none_of(beside.dots, [&](const Dot& dot) {
    const auto at = std::ranges::find(versions, dot, &Version::dot);
    return at != versions.end() && saw(*at);
  });
}

Error forAPerson(const UndoStep& step, const OperationView& done, const char* what) {
  return {ErrorCode::conflict, step.key + what + OperationId{done.record->body.operationId}.hex(),
          "a person has to decide what it should say"};
}

// None: it shows nothing of the operation any more, which an earlier compensation has seen to.
Result<std::optional<JournalChange>> compensation(Space& journal, const Intent& intent, const OperationView& done,
                                                  const UndoStep& step, std::vector<UndoStep>& undo,
                                                  std::int64_t nowMs) {
  WITAN_TRY(view, wholeView(journal, step.key));
  const Beside beside = splitFor(done, view);
  if (beside.own == nullptr) {
    WITAN_TRY(claimed, isClaimed(journal, done, step.key, view));
    if (claimed || isFurther(journal, intent)) return std::optional<JournalChange>();
    WITAN_TRY(nothing, leftNothing(journal, done, step.key, view));
    if (!nothing) return forAPerson(step, done, " was edited after operation ");
  }
  WITAN_TRY(alike, stoodAlike(journal, done, step));
  if (!alike) return forAPerson(step, done, " stood differently on devices that carried out operation ");
  if (!view.unreadable.empty()) return forAPerson(step, done, " has a version that cannot be read beside operation ");
  if (beside.others.size() > 1) return unsettled(step.key);
  WITAN_TRY(lost, knewLess(journal, done, beside, step));
  if (lost) return forAPerson(step, done, " was edited elsewhere without what stood there before operation ");
  JournalChange change{step.key, restored(intent, step, beside, nowMs), "", ChangeOrigin::local};
  if (change.body)
    change.body->lamport = nextLamport(view), change.body->hops = intent.hops + 1;
  else if (const JournalBody* shown = shownOf(view))
    change.type = shown->type;
  undo.push_back(
      undoStep(step.scope, step.key, beside.own != nullptr && beside.own->body ? &*beside.own->body : nullptr));
  return std::optional(std::move(change));
}

}  // namespace

Result<Write> operationWrite(const Intent& intent, const Outcome& outcome, std::vector<UndoStep> undo) {
  OperationBody body{intent.operation, intent.run,      intent.agentId,     intent.tool, outcome.outcome,
                     outcome.result,   std::move(undo), intent.compensates, intent.hops};
  return recordWrite(intent.id().hex(), body);
}

Result<JournalCommit> journalCommit(Space& journal, const Intent& intent, JournalEffect effect) {
  if (effect.changes.size() > kMaxEntityChanges)
    return invalid(
        concat("an operation changes at most ", kMaxEntityChanges, " entities, this one ", effect.changes.size()));
  const std::string& scope = effect.scope.empty() ? intent.scope : effect.scope;
  std::vector<JournalChange> changes, claimed;
  std::vector<UndoStep> undo;
  for (JournalChange& change : effect.changes) {
    WITAN_TRY(view, journalViewIn(journal, change.id));
    if (view.inConflict() && !effect.settles) return unsettled(change.id);
    const JournalBody* shown = shownOf(view);
    if (mutated("writeOnce") && shown != nullptr && change.body && shown->author == change.body->author) continue;
    const bool same = changesNothing(change, shown);
    if (same && mutated("stopAtSame")) break;
    if (same && (shown == nullptr || !shown->operationId || mutated("claimNothing"))) continue;
    undo.push_back(undoStep(scope, change.id, shown));
    if (change.body) change.body->operationId = intent.operation, change.body->hops = intent.hops + 1;
    (same ? claimed : changes).push_back(std::move(change));
  }
  return commitOf(journal, scope, intent, changes, std::move(undo),
                  {OperationOutcome::applied, std::move(effect.result)}, claimed, effect.tokens);
}

Result<JournalCommit> undoCommit(Space& journal, std::string_view scope, const Intent& intent,
                                 const OperationView& done, std::int64_t nowMs) {
  WITAN_CHECK(done.record.has_value(), "only what was carried out is undone");
  std::vector<JournalChange> changes;
  std::vector<UndoStep> undo;
  for (const UndoStep& step : done.record->body.undo) {
    if (step.scope != scope) return conflict(concat(step.key, " is in scope ", step.scope, ", not ", scope));
    WITAN_TRY(change, compensation(journal, intent, done, step, undo, nowMs));
    if (change) changes.push_back(*std::move(change));
  }
  const std::string id = OperationId{done.record->body.operationId}.hex();
  return commitOf(journal, scope, intent, changes, std::move(undo),
                  {OperationOutcome::applied, "{\"undone\":\"" + id + "\"}"});
}

Result<bool> stillShows(Space& journal, const OperationView& done) {
  if (!done.record) return false;
  for (const UndoStep& step : done.record->body.undo) {
    WITAN_TRY(view, wholeView(journal, step.key));
    if (splitFor(done, view).own != nullptr) return true;
  }
  return false;
}

}  // namespace witan::saga
