#include "agents/tools/journal_tools.h"

#include <algorithm>
#include <initializer_list>

#include "agents/json_members.h"
#include "base/identity.h"
#include "base/time.h"
#include "replication/records/journal_entity.h"

namespace witan::agents {

using replication::DatabaseName;
using replication::JournalBody;
using replication::JournalView;
using replication::journalViewIn;
using replication::Kind;
using replication::LocalReplica;
using replication::Space;

namespace {

Error wrong(std::string message) { return {ErrorCode::invalidInput, std::move(message), ""}; }

Status checkArguments(const json::object& arguments, std::initializer_list<std::string_view> known) {
  for (const auto& member : arguments)
    if (std::ranges::find(known, std::string_view(member.key())) == known.end())
      return wrong(concat("unknown argument \"", member.key(), "\""));
  return okStatus();
}

// Null: the scope is not here.
Result<Space*> spaceOf(LocalReplica& replica, const json::object& arguments) {
  WITAN_TRY(scope, textOf(arguments, "scope", kMainScope));
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

}  // namespace

Result<json::value> readEntry(LocalReplica& replica, const json::object& arguments) {
  WITAN_DO(checkArguments(arguments, {"id", "scope"}));
  WITAN_TRY(id, textOf(arguments, "id"));
  WITAN_TRY(space, spaceOf(replica, arguments));
  if (space == nullptr) return json::value(nullptr);
  WITAN_TRY(view, journalViewIn(*space, id));
  return entryJson(id, view);
}

Result<json::value> listEntries(LocalReplica& replica, const json::object& arguments) {
  WITAN_DO(checkArguments(arguments, {"type", "day", "prefix", "after", "scope"}));
  WITAN_TRY(type, textOf(arguments, "type"));
  WITAN_TRY(day, textOf(arguments, "day", ""));
  WITAN_TRY(prefix, textOf(arguments, "prefix", ""));
  WITAN_TRY(after, textOf(arguments, "after", ""));
  WITAN_TRY(space, spaceOf(replica, arguments));
  json::array entries;
  bool more = false;
  std::size_t bytes = 0, tooLarge = 0;
  for (const std::string& id : space != nullptr ? space->keys(Kind::journal, prefix) : std::vector<std::string>{}) {
    if (id <= after) continue;
    WITAN_TRY(view, journalViewIn(*space, id));
    const JournalBody* shown = shownOf(view);
    if (shown == nullptr || shown->type != type) continue;
    if (!day.empty() && formatDate(dateOf(Time{shown->editedAtMs * 1000})) != day) continue;
    json::value entry = entryJson(id, view);
    const std::size_t size = canonicalJson(entry).size() + 1;
    if (size > kMostListedBytes) {  // alone; the others are listed all the same
      ++tooLarge;
      continue;
    }
    bytes += size;
    if (entries.size() == kMostListed || bytes > kMostListedBytes) {
      more = true;
      break;
    }
    entries.push_back(std::move(entry));
  }
  json::object list{{"entries", std::move(entries)}, {"more", more}};
  if (tooLarge > 0) list["tooLarge"] = tooLarge;
  return json::value(std::move(list));
}

Result<JournalEdit> journalEditOf(std::string_view tool, const json::object& arguments) {
  const bool put = tool == "journal.put";
  if (!put && tool != "journal.remove") return wrong(concat(tool, " is no tool of the journal"));
  const json::value* settles = put ? arguments.if_contains("settles") : nullptr;
  if (settles != nullptr)
    WITAN_DO(checkArguments(arguments, {"id", "settles", "scope"}));
  else
    WITAN_DO(put ? checkArguments(arguments, {"id", "type", "payload", "scope"})
                 : checkArguments(arguments, {"id", "scope"}));
  JournalEdit edit;
  WITAN_TRY(id, textOf(arguments, "id"));
  WITAN_TRY(scope, textOf(arguments, "scope", kMainScope));
  edit.id = std::move(id);
  edit.scope = std::move(scope);
  edit.remove = !put;
  if (!put) return edit;
  if (settles != nullptr) {
    if (!settles->is_array() || settles->get_array().empty()) return wrong("\"settles\" is no list of versions");
    for (const json::value& one : settles->get_array()) {
      if (!one.is_string()) return wrong("\"settles\" is no list of versions");
      edit.settles.emplace_back(one.get_string());
    }
    return edit;
  }
  WITAN_SET(edit.type, textOf(arguments, "type"));
  const json::value* payload = arguments.if_contains("payload");
  if (payload == nullptr) return wrong("it has no \"payload\"");
  edit.payload = canonicalJson(*payload);
  return edit;
}

}  // namespace witan::agents
