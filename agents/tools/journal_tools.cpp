#include "agents/tools/journal_tools.h"

#include <algorithm>
#include <initializer_list>

#include "base/identity.h"
#include "base/time.h"

namespace witan::agents {

using namespace replication;

namespace {

Error wrong(std::string message) { return {ErrorCode::invalidInput, std::move(message), ""}; }

Status checkArguments(const json::object& arguments, std::initializer_list<std::string_view> known) {
  for (const auto& member : arguments)
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end())
      return wrong("unknown argument \"" + std::string(member.key()) + "\"");
  return okStatus();
}

// An argument that is a text; `otherwise` if it is not given. Errors: it is not given and there is no otherwise.
Result<std::string> textArgument(const json::object& arguments, std::string_view name,
                                 std::optional<std::string_view> otherwise = std::nullopt) {
  const json::value* value = arguments.if_contains(name);
  if (value == nullptr && otherwise) return std::string(*otherwise);
  if (value == nullptr) return wrong("no argument \"" + std::string(name) + "\"");
  if (!value->is_string()) return wrong("argument \"" + std::string(name) + "\" is no text");
  return std::string(value->get_string());
}

// Null: the scope is not here.
Result<Space*> spaceOf(LocalReplica& replica, const json::object& arguments) {
  WITAN_TRY(scope, textArgument(arguments, "scope", kMainScope));
  WITAN_DO(validateId("scope", scope));
  return replica.database(DatabaseName::journal).find(scope);
}

json::value entryJson(std::string_view id, const JournalView& view) {
  if (!view.shown) return nullptr;
  const JournalBody& body = *view.siblings[*view.shown].body;
  auto payload = parseJson(body.payload);
  return json::object{{"id", id},
                      {"type", body.type},
                      {"payload", payload.ok() ? *payload : json::value(nullptr)},
                      {"author", body.author},
                      {"editedAtMs", body.editedAtMs},
                      {"conflict", view.inConflict()}};
}

const JournalBody* shownOf(const JournalView& view) { return view.shown ? &*view.siblings[*view.shown].body : nullptr; }

// What puts back what stands there now.
UndoStep undoOf(const std::string& scope, const std::string& id, const JournalView& view) {
  const JournalBody* shown = shownOf(view);
  return {scope, id, shown != nullptr ? shown->type : "", shown != nullptr ? shown->payload : ""};
}

}  // namespace

Result<json::value> readEntry(LocalReplica& replica, const json::object& arguments) {
  WITAN_DO(checkArguments(arguments, {"id", "scope"}));
  WITAN_TRY(id, textArgument(arguments, "id"));
  WITAN_TRY(space, spaceOf(replica, arguments));
  if (space == nullptr) return json::value(nullptr);
  WITAN_TRY(view, journalViewIn(*space, id));
  return entryJson(id, view);
}

Result<json::value> listEntries(LocalReplica& replica, const json::object& arguments) {
  WITAN_DO(checkArguments(arguments, {"type", "day", "prefix", "scope"}));
  WITAN_TRY(type, textArgument(arguments, "type"));
  WITAN_TRY(day, textArgument(arguments, "day", ""));
  WITAN_TRY(prefix, textArgument(arguments, "prefix", ""));
  WITAN_TRY(space, spaceOf(replica, arguments));
  json::array entries;
  bool more = false;
  std::size_t bytes = 0;
  for (const std::string& id : space != nullptr ? space->keys(Kind::journal, prefix) : std::vector<std::string>{}) {
    WITAN_TRY(view, journalViewIn(*space, id));
    const JournalBody* shown = shownOf(view);
    if (shown == nullptr || shown->type != type) continue;
    if (!day.empty() && formatDate(dateOf(Time{shown->editedAtMs * 1000})) != day) continue;
    bytes += shown->payload.size() + id.size();
    if ((more = entries.size() == kMostListed || bytes > kMostListedBytes)) break;
    entries.push_back(entryJson(id, view));
  }
  return json::value(json::object{{"entries", std::move(entries)}, {"more", more}});
}

Result<JournalCommit> putEntry(LocalReplica& replica, const json::object& arguments, std::string_view author,
                               const OperationId& operation, std::int64_t nowMs) {
  WITAN_DO(checkArguments(arguments, {"id", "type", "payload", "scope"}));
  WITAN_TRY(id, textArgument(arguments, "id"));
  WITAN_TRY(type, textArgument(arguments, "type"));
  WITAN_TRY(scope, textArgument(arguments, "scope", kMainScope));
  const json::value* payload = arguments.if_contains("payload");
  if (payload == nullptr) return wrong("no argument \"payload\"");
  WITAN_TRY(space, replica.database(DatabaseName::journal).space(scope));
  WITAN_TRY(view, journalViewIn(*space, id));
  WITAN_TRY(body, journalEdit(view, {type, canonicalJson(*payload), std::string(author), nowMs, operation}));
  return JournalCommit{scope, {{id, std::move(body), "", ChangeOrigin::local}}, {undoOf(scope, id, view)}};
}

Result<JournalCommit> removeEntry(LocalReplica& replica, const json::object& arguments) {
  WITAN_DO(checkArguments(arguments, {"id", "scope"}));
  WITAN_TRY(id, textArgument(arguments, "id"));
  WITAN_TRY(scope, textArgument(arguments, "scope", kMainScope));
  WITAN_TRY(space, spaceOf(replica, arguments));
  if (space == nullptr) return Error{ErrorCode::notFound, "there is no scope " + scope, ""};
  WITAN_TRY(view, journalViewIn(*space, id));
  const JournalBody* shown = shownOf(view);
  if (shown == nullptr) return Error{ErrorCode::notFound, "there is no entry " + id, ""};
  if (view.inConflict())
    return Error{ErrorCode::conflict, id + " has several versions; a person has to settle on one", ""};
  return JournalCommit{scope, {{id, std::nullopt, shown->type, ChangeOrigin::local}}, {undoOf(scope, id, view)}};
}

}  // namespace witan::agents
