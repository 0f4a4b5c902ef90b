// `witan journal put|get|list|resolve|import` on a data directory.
#include "base/json.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/client/operation_verb.h"
#include "cli/commands/commands.h"
#include "cli/journal/journal_import.h"
#include "node/cluster/roster.h"
#include "node/operations/journal.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "replication/records/records.h"

namespace witan::node {

using namespace operations;
using replication::kMaxRecordBytes;

namespace {

struct JournalArguments : ReplicaArguments {
  std::string id, type, author, jsonFile, choose;
  std::optional<std::string> text;
  std::vector<std::string> seen;
};

// On one line; putWords() escapes the other controls, which would move a terminal's cursor or colour it.
std::string onOneLine(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\u000a" : c == '\t' ? "\\u0009" : std::string(1, c);
  return out;
}

// A payload that is only a text reads as that.
std::string payloadWords(const json::value& payload) {
  const json::value* text = nullptr;
  if (payload.is_object() && payload.get_object().size() == 1) text = payload.get_object().if_contains("text");
  return text != nullptr && text->is_string() ? onOneLine(text->get_string()) : canonicalJson(payload);
}

// The content, if one was given. Errors: it is given twice; the file; no JSON.
Result<Omittable<json::value>> payloadOf(const JournalArguments& a) {
  if (a.text) return Omittable<json::value>(json::object{{"text", *a.text}});
  if (a.jsonFile.empty()) return Omittable<json::value>();
  WITAN_TRY(text, readInput(a.jsonFile, kMaxRecordBytes));
  auto payload = parseJson(text, {.bytes = kMaxRecordBytes});
  if (!payload.ok()) return invalid("the payload is no JSON (" + payload.error().message + ")");
  WITAN_DO(checkIntegersKept(text));
  makeIntegersExact(*payload);
  return Omittable<json::value>(std::move(*payload));
}

std::string versionWords(const JournalVersion& version) {
  if (version.deleted) return "deleted";
  return payloadWords(*version.payload) + "  (" + *version.type + ", " + *version.author + ", " +
         formatTime({*version.editedAtMs * 1000}) + ")";
}

std::string entityWords(const JournalEntity& entity) {
  if (!entity.conflict)
    return entity.id + "  " + (entity.siblings.empty() ? "unreadable" : versionWords(entity.siblings.front())) + "\n";
  std::string out = entity.id + " was edited on several devices at once:\n", seen;
  for (const JournalVersion& version : entity.siblings) {
    const bool shown = entity.shown && entity.shown->dot() == version.dot.dot();
    out += "  " + dotWords(version.dot) + "  " + versionWords(version) + (shown ? "  <- shown until then" : "") + "\n";
    seen += " --seen " + dotWords(version.dot);
  }
  for (const JournalUnreadable& one : entity.unreadable) {
    out += "  " + dotWords(one.dot) + "  cannot be read by this build (" + one.why + ")\n";
    seen += " --seen " + dotWords(one.dot);
  }
  return out +
         "settle it with one of them (--choose VERSION), or with a new text (--text TEXT):\n  witan journal resolve " +
         entity.id + seen + " --choose VERSION\n";
}

Printed entityAnswer(const JournalEntity& entity, const JournalArguments&) { return {entityWords(entity)}; }

Printed written(const JournalArguments& a, const std::optional<VersionDot>& dot, const char* what) {
  return {dot ? std::string(what) + " " + a.id + ", version " + dotWords(*dot) + "\n" : a.id + " says that already\n"};
}

Result<JournalPutRequest> putRequest(const JournalArguments& a) {
  WITAN_TRY(payload, payloadOf(a));
  if (!payload) return invalid("missing content", "give --text TEXT or --json-payload FILE (- for standard input)");
  return JournalPutRequest{a.id, std::move(*payload), given(a.type), given(a.author), given(a.scope)};
}

Printed listAnswer(const JournalEntities& list, const JournalArguments&) {
  DeviceNames names;
  for (const auto& [id, name] : list.names) names.add(id, name);
  std::string out;
  for (const JournalEntity& entity : list.entities) {
    const auto shown = std::find_if(entity.siblings.begin(), entity.siblings.end(), [&](const JournalVersion& version) {
      return entity.shown && version.dot.dot() == entity.shown->dot();
    });
    const std::size_t others = entity.siblings.size() + entity.unreadable.size() - 1;
    const bool byDevice = shown != entity.siblings.end() && !shown->deleted && list.names.contains(*shown->author);
    JournalVersion version = shown == entity.siblings.end() ? JournalVersion() : *shown;
    if (byDevice) version.author = names.in(*version.author);
    out += entity.id + "  " + (shown == entity.siblings.end() ? "unreadable" : versionWords(version)) +
           (entity.conflict ? "  (+" + std::to_string(others) + " concurrent, to be resolved)" : "") + "\n";
  }
  return {out};
}

Result<JournalResolveRequest> resolveRequest(const JournalArguments& a) {
  JournalResolveRequest request;
  request.id = a.id;
  request.scope = given(a.scope);
  request.choose = given(a.choose);
  if (!a.seen.empty()) request.seen = a.seen;
  request.type = given(a.type);
  request.author = given(a.author);
  WITAN_TRY(payload, payloadOf(a));
  request.payload = std::move(payload);
  return request;
}

Printed resolveAnswer(const JournalResolved& resolved, const JournalArguments& a) {
  if (resolved.entity) return entityAnswer(*resolved.entity, a);
  return written(a, resolved.dot ? std::optional(*resolved.dot) : std::nullopt, "resolved");
}

void addContentOptions(Command* command, JournalArguments& a) {
  command->option("--type", a.type, "The entity's type; default: as it was");
  command->option("--text", a.text, "Content that is a text");
  command->option("--json-payload", a.jsonFile, "File with any JSON as content; - for standard input")
      ->excludes({"--text"});
  command->option("--author", a.author, "Who writes; default: the device");
}

}  // namespace

void addJournalCommand(Command& app, int& exitCode) {
  Command* journal = app.command("journal", "What people wrote, kept as they wrote it");
  journal->requireCommand();
  journal->footer("Example: witan journal put plot-4 --type plot --text beans");
  const auto verb = [&](const char* name, const char* what, const char* example, Missing missing, const auto& operation,
                        auto fill, auto format) {
    const auto arguments = std::make_shared<JournalArguments>();
    Command* command =
        addOperationVerb(*journal, name, what, example, arguments, missing, operation, fill, format, exitCode);
    if (name != std::string_view("list"))
      command->option("ID", arguments->id, "The entity")->required()->check(idText("journal entity"));
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto [putCommand, content] =
      verb("put", "Write an entity, new or on top of what this device shows",
           "witan journal put plot-4 --type plot --text beans", Missing::create, kJournalPut, putRequest,
           [](const JournalWritten& done, const JournalArguments& a) { return written(a, done.dot, "wrote"); });
  addContentOptions(putCommand, *content);
  verb(
      "get", "An entity; all its versions if it was edited on several devices at once", "witan journal get plot-4",
      Missing::refuse, kJournalGet,
      [](const JournalArguments& a) {
        return Result(JournalGetRequest{a.id, given(a.scope)});
      },
      entityAnswer);
  verb(
      "list", "All entities", "witan journal list", Missing::refuse, kJournalList,
      [](const JournalArguments& a) { return Result(ScopeRequest{given(a.scope)}); }, listAnswer);
  const auto [resolveCommand, settled] =
      verb("resolve", "Show concurrent edits side by side; settle on one, or on a new content",
           "witan journal resolve plot-4 --seen a@00000001:7 --seen b@00000002:3 --choose a@00000001:7",
           Missing::refuse, kJournalResolve, resolveRequest, resolveAnswer);
  addContentOptions(resolveCommand, *settled);
  resolveCommand->option("--choose", settled->choose, "The version to settle on")
      ->typeName("VERSION")
      ->excludes({"--text", "--json-payload"})
      ->check(readBy(operations::parseDot));
  resolveCommand->option("--seen", settled->seen, "The versions that were seen; refused if there are others now")
      ->typeName("VERSION")
      ->oneWordEach()
      ->check(readBy(operations::parseDot));
  const auto imported = std::make_shared<ImportArguments>();
  Command* importCommand =
      addReplicaVerb(*journal, "import", "Entities from JSON Lines; a bad line is reported and the others go in",
                     "witan journal import garden.jsonl", imported, Missing::create, importJournal, exitCode);
  importCommand->option("FILE", imported->file, "JSON Lines; - for standard input")->required();
  addScopeOption(importCommand, *imported);
}

}  // namespace witan::node
