#include "replication/records/journal_entity.h"

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "base/mutant.h"
#include "replication/records/notification.h"
#include "replication/records/record_write.h"

namespace witan::replication {

namespace {

Result<JournalBody> bodyOn(const JournalView& view, const JournalEdit& edit) {
  auto payload = parseJson(edit.payload, {.bytes = kMaxRecordBytes});
  if (!payload.ok()) return invalid("payload: " + payload.error().message);
  makeIntegersExact(*payload);
  JournalBody body{.type = edit.type, .payload = canonicalJson(*payload), .lamport = 1};
  for (const Sibling& s : view.siblings)
    if (s.body) body.lamport = std::max(body.lamport, s.body->lamport + 1);
  body.author = edit.author;
  body.editedAtMs = edit.editedAtMs;
  if (edit.operationId) body.operationId = edit.operationId->value;
  return body;
}

std::string listOf(const std::vector<Dot>& dots) {
  std::string out;
  for (const Dot& d : dots) out += concat(out.empty() ? "" : ", ", d.host, ":", d.counter);
  return out.empty() ? "none" : out;
}

// All concurrent versions, also those that this build cannot read: a newer build may, and they must not vanish unseen.
std::vector<Dot> dotsOf(const JournalView& view) {
  std::vector<Dot> dots;
  for (const Sibling& s : view.siblings) dots.push_back(s.dot);
  for (const Unreadable& u : view.unreadable) dots.push_back(u.dot);
  std::ranges::sort(dots);
  return dots;
}

}  // namespace

bool sameEdit(const Sibling& a, const Sibling& b) {
  if (!a.body || !b.body) return !a.body && !b.body;
  return a.body->type == b.body->type && a.body->payload == b.body->payload;
}

bool JournalView::inConflict() const {
  if (siblings.size() + unreadable.size() <= 1) return false;
  return !unreadable.empty() ||
         !std::ranges::all_of(siblings, [&](const Sibling& s) { return sameEdit(s, siblings.front()); });
}

JournalView journalViewOf(std::span<const Version> versions) {
  JournalView view;
  for (const Version* v : maximalVersions(versions)) {
    if (v->tombstone) {
      view.siblings.push_back({v->dot, std::nullopt});
      continue;
    }
    auto body = decodeRecord<JournalBody>(v->body);
    if (body.ok())
      view.siblings.push_back({v->dot, *std::move(body)});
    else
      view.unreadable.push_back({v->dot, body.error().message});
  }
  for (std::size_t i = 0; i < view.siblings.size(); ++i) {
    const Sibling& s = view.siblings[i];
    if (!s.body) continue;
    if (!view.shown) {
      view.shown = i;
      continue;
    }
    const Sibling& best = view.siblings[*view.shown];
    if (std::tie(best.body->lamport, best.dot) < std::tie(s.body->lamport, s.dot)) view.shown = i;
  }
  return view;
}

Result<JournalBody> journalEdit(const JournalView& view, const JournalEdit& edit) {
  if (view.inConflict())
    return conflict("the entry was edited on several devices at once (" + listOf(dotsOf(view)) + ")",
                    "resolve it first");
  WITAN_TRY(body, bodyOn(view, edit));
  WITAN_DO(checkRecord(body));
  return body;
}

Result<JournalBody> journalResolution(const JournalView& view, const JournalEdit& edit, std::vector<Dot> shown) {
  std::ranges::sort(shown);
  const std::vector<Dot> now = dotsOf(view);
  if (!view.inConflict()) return conflict("there is no conflict to resolve", "edit the entry instead");
  if (shown != now)
    return conflict(
        "the versions changed since they were shown (shown: " + listOf(shown) + "; now: " + listOf(now) + ")",
        "look at them again");
  WITAN_TRY(body, bodyOn(view, edit));
  for (const Dot& d : shown) body.resolves.push_back({d.host, d.counter});
  WITAN_DO(checkRecord(body));
  return body;
}

Result<std::vector<Write>> journalWrites(const Space& space, std::span<const JournalChange> changes,
                                         std::string_view sourceCursor, std::span<const NotificationToken> more) {
  std::vector<Write> writes;
  BatchDraft draft{.localBatchId = concat(space.selfName(), ":", space.vector().at(space.self()) + 1),
                   .deps = space.dependencies(),
                   .sourceCursor = std::string(sourceCursor)};
  draft.tokens.assign(more.begin(), more.end());
  for (const JournalChange& change : changes) {
    draft.changes.push_back({std::string(kJournalPayload), change.id, change.origin});
    draft.tokens.push_back({TokenClass::entityId, std::nullopt, change.id});
    const std::string& type = change.body ? change.body->type : change.type;
    if (!type.empty()) draft.tokens.push_back({TokenClass::subtypeToken, std::string(kJournalNamespace), type});
    if (!change.body) {
      writes.push_back({Kind::journal, change.id, {}, true});
      continue;
    }
    WITAN_TRY(write, recordWrite(change.id, *change.body));
    writes.push_back(std::move(write));
  }
  WITAN_TRY(body, batchBodyOf(draft));
  WITAN_TRY(batch, recordWrite("", body));
  writes.push_back(std::move(batch));
  return writes;
}

namespace {

// Whether `version` is one of several that an operation wrote, on as many devices, and another of them has been written
// over by somebody since.
Result<bool> isOutdatedRepeat(Space& space, std::string_view id, const Sibling& version,
                              std::span<const Version> held) {
  if (!version.body || !version.body->operationId) return false;
  WITAN_TRY(records, space.versions(Kind::operation, toHex(*version.body->operationId)));
  const auto wasWritten = [&](const Version& record) {
    const auto body = decodeRecord<OperationBody>(record.body);
    return body.ok() && std::ranges::any_of(body->undo, [&](const UndoStep& step) { return step.key == id; });
  };
  const auto isAt = [](const Dot& dot) { return [&](const Version& one) { return one.dot == dot; }; };
  if (std::ranges::none_of(records, isAt(version.dot))) return false;  // an undoing brought it back
  const VectorClock known = space.clock();
  return std::ranges::any_of(records, [&](const Version& record) {
    return std::ranges::none_of(held, isAt(record.dot)) && known.covers(record.dot) && wasWritten(record);
  });
}

}  // namespace

Result<JournalView> journalViewIn(Space& space, std::string_view id) {
  WITAN_DO(validateId("journal entity", id));
  WITAN_TRY(versions, space.versions(Kind::journal, id));
  JournalView view = journalViewOf(versions);
  if (!view.inConflict() || mutated("keepRepeats")) return view;
  std::vector<Version> counts = versions;
  bool rest = false;  // something beside them says what the entity is
  for (const Sibling& sibling : view.siblings) {
    WITAN_TRY(outdated, isOutdatedRepeat(space, id, sibling, versions));
    if (outdated)
      std::erase_if(counts, [&](const Version& one) { return one.dot == sibling.dot; });
    else
      rest = rest || sibling.body;
  }
  return rest && counts.size() < versions.size() ? journalViewOf(counts) : view;
}

}  // namespace witan::replication
