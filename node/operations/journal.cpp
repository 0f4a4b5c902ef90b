#include "node/operations/journal.h"

#include <array>

#include "base/quote.h"
#include "domains/agents.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/agent_records.h"
#include "replication/records/journal_entity.h"

namespace witan::node::operations {

using namespace replication;

namespace {

std::string textOf(json::value payload) {
  makeIntegersExact(payload);
  return canonicalJson(payload);
}

JournalVersion versionOf(const Sibling& sibling) {
  JournalVersion version{.deleted = !sibling.body, .dot = VersionDot(sibling.dot)};
  if (!sibling.body) return version;
  auto payload = parseJson(sibling.body->payload, kOwnJson);
  version.author = sibling.body->author;
  version.editedAtMs = sibling.body->editedAtMs;
  version.payload = payload.ok() ? *payload : json::value(sibling.body->payload);
  version.type = sibling.body->type;
  return version;
}

JournalEntity entityOf(const std::string& id, const JournalView& view) {
  JournalEntity entity{view.inConflict(), id, std::nullopt, {}, {}};
  if (view.shown) entity.shown = VersionDot(view.siblings[*view.shown].dot);
  for (const Sibling& sibling : view.siblings) entity.siblings.push_back(versionOf(sibling));
  for (const Unreadable& one : view.unreadable) entity.unreadable.push_back({VersionDot(one.dot), one.why});
  return entity;
}

Result<JournalView> existing(JournalWriter& writer, const std::string& id, const std::string& scope) {
  WITAN_TRY(view, writer.view(id));
  if (!view.inConflict() && view.unreadable.empty() && !view.shown)
    return notFound("no journal entity " + inQuotes(id) + " in scope " + scope, "see: witan journal list");
  return view;
}

// A new content, or that of one of the versions.
Result<JournalWrite> choiceOf(const JournalResolveRequest& request, const JournalView& view) {
  JournalWrite write{request.id, request.type.value_or(""), "", request.author.value_or(""), ChangeOrigin::local, ""};
  if (write.type.empty() && view.shown) write.type = view.siblings[*view.shown].body->type;
  if (!request.choose) {
    write.payload = textOf(*request.payload);
    return write;
  }
  WITAN_TRY(chosen, parseDot(*request.choose));
  for (const Sibling& sibling : view.siblings) {
    if (sibling.dot != chosen) continue;
    if (!sibling.body) return invalid(*request.choose + " deletes " + request.id, "settle on a content");
    write.payload = sibling.body->payload;
    if (!request.type) write.type = sibling.body->type;
    return write;
  }
  return notFound(*request.choose + " is not among the versions of " + request.id,
                  "see them with: witan journal resolve " + request.id);
}

}  // namespace

Result<JournalView> JournalWriter::view(const std::string& id) {
  WITAN_DO(validateId("journal entity", id));
  Space* space = replica_.database(DatabaseName::journal).find(scope_);
  if (space == nullptr) return JournalView{};
  return journalViewIn(*space, id);
}

Result<JournalEdit> JournalWriter::edit(const JournalWrite& write, Time now) {
  WITAN_TRY(payload, seals_.sealed(write.type, write.payload));
  return JournalEdit{write.type, std::move(payload), write.author.empty() ? replica_.device() : write.author,
                     now.micros / 1000, std::nullopt};
}

Result<std::optional<Dot>> JournalWriter::put(const JournalWrite& write, Time now) {
  WITAN_TRY(held, view(write.id));
  WITAN_TRY(wanted, edit(write, now));
  WITAN_TRY(body, journalEdit(held, wanted));
  if (held.shown) {
    const JournalBody& shown = *held.siblings[*held.shown].body;
    if (shown.type == body.type && shown.payload == body.payload) return std::optional<Dot>();
  }
  WITAN_TRY(dot, commit(write, body));
  return std::optional(dot);
}

Result<Dot> JournalWriter::resolve(const JournalWrite& write, std::vector<Dot> shown, Time now) {
  WITAN_TRY(held, view(write.id));
  WITAN_TRY(wanted, edit(write, now));
  WITAN_TRY(body, journalResolution(held, wanted, std::move(shown)));
  return commit(write, body);
}

Result<Dot> JournalWriter::commit(const JournalWrite& write, const JournalBody& body) {
  WITAN_TRY(space, replica_.database(DatabaseName::journal).space(scope_));
  const std::array change{JournalChange{write.id, body, "", write.origin}};
  WITAN_TRY(writes, journalWrites(*space, change, write.sourceCursor));
  return replica_.commit(DatabaseName::journal, scope_, writes);
}

Result<JournalWritten> putJournal(OperationContext& context, const JournalPutRequest& request) {
  const std::string scope = request.scope.value_or(kDefaultScope);
  WITAN_TRY(seals, contentSealsOf(context.dir, scope));
  JournalWriter writer(context.replica, scope, std::move(seals));
  WITAN_TRY(before, writer.view(request.id));
  if (before.inConflict())
    return conflict(request.id + " was edited on several devices at once and is not resolved yet",
                    "see the edits with: witan journal resolve " + request.id);
  JournalWrite write{
      request.id, request.type.value_or(""), textOf(request.payload), request.author.value_or(""), ChangeOrigin::local,
      ""};
  if (write.type.empty() && before.shown) write.type = before.siblings[*before.shown].body->type;
  if (write.type.empty()) return invalid(request.id + " is new and has no type", "give --type TYPE");
  WITAN_TRY(dot, writer.put(write, context.now));
  return JournalWritten{dot ? std::optional(VersionDot(*dot)) : std::nullopt, request.id};
}

Result<JournalEntity> getJournal(OperationContext& context, const JournalGetRequest& request) {
  const std::string scope = request.scope.value_or(kDefaultScope);
  JournalWriter writer(context.replica, scope, domains::contentSeals());
  WITAN_TRY(view, existing(writer, request.id, scope));
  return entityOf(request.id, view);
}

Result<JournalEntities> listJournal(OperationContext& context, const ScopeRequest& request) {
  JournalEntities list;
  list.names = context.names;
  Space* space = context.space(DatabaseName::journal, request.scope);
  if (space == nullptr) return list;
  for (const std::string& id : space->keys(Kind::journal)) {
    WITAN_TRY(view, journalViewIn(*space, id));
    if (view.inConflict() || view.shown) list.entities.push_back(entityOf(id, view));
  }
  return list;
}

Result<JournalResolved> resolveJournal(OperationContext& context, const JournalResolveRequest& request) {
  const std::string scope = request.scope.value_or(kDefaultScope);
  WITAN_TRY(seals, contentSealsOf(context.dir, scope));
  JournalWriter writer(context.replica, scope, std::move(seals));
  WITAN_TRY(view, existing(writer, request.id, scope));
  JournalResolved resolved;
  if (!request.choose && !request.payload) {
    resolved.entity = entityOf(request.id, view);
    return resolved;
  }
  std::vector<Dot> seen;
  for (const std::string& text : request.seen.value_or(std::vector<std::string>{})) {
    WITAN_TRY(dot, parseDot(text));
    seen.push_back(dot);
  }
  if (view.inConflict() && seen.empty())
    return invalid("missing --seen", "copy the command that `witan journal resolve " + request.id + "` prints");
  WITAN_TRY(write, choiceOf(request, view));
  WITAN_TRY(answer, personsAnswer(context, kJournalResolve.path, request));
  WITAN_TRY(dot, writer.resolve(write, std::move(seen), context.now));
  if (!answer.signature.empty()) WITAN_DO(keepInboxAnswer(context.replica, scope, placeOfItem(answer.item), answer));
  resolved.dot = VersionDot(dot);
  return resolved;
}

}  // namespace witan::node::operations
