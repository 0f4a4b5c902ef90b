// `witan journal put|get|list|resolve|import` on a data directory.
#include <cstdio>

#include "base/json.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/cluster/roster.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/journal.h"
#include "node/operations/versions.h"
#include "program/error_report.h"
#include "program/json_file.h"
#include "program/line_reader.h"
#include "program/option_checks.h"
#include "program/progress.h"
#include "replication/records/records.h"

namespace witan::node {

using namespace operations;
using replication::Dot;
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
  if (!payload.ok()) return named(a.jsonFile, payload.error());
  if (const Status kept = checkIntegersKept(text); !kept.ok()) return named(a.jsonFile, kept.error());
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
  return {dot ? concat(what, " ", a.id, ", version ", dotWords(*dot), "\n") : a.id + " says that already\n"};
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
    const auto shown = std::ranges::find_if(entity.siblings, [&](const JournalVersion& version) {
      return entity.shown && version.dot.dot() == entity.shown->dot();
    });
    const std::size_t others = entity.siblings.size() + entity.unreadable.size() - 1;
    const bool byDevice = shown != entity.siblings.end() && !shown->deleted && list.names.contains(*shown->author);
    JournalVersion version = shown == entity.siblings.end() ? JournalVersion() : *shown;
    if (byDevice) version.author = names.in(*version.author);
    out += entity.id + "  " + (shown == entity.siblings.end() ? "unreadable" : versionWords(version)) +
           (entity.conflict ? concat("  (+", others, " concurrent, to be resolved)") : "") + "\n";
  }
  return {out};
}

Result<JournalResolveRequest> resolveRequest(const JournalArguments& a) {
  JournalResolveRequest request{.id = a.id, .choose = given(a.choose), .scope = given(a.scope)};
  if (!a.seen.empty()) request.seen = a.seen;
  request.type = given(a.type);
  request.author = given(a.author);
  WITAN_SET(request.payload, payloadOf(a));
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

// --- import

struct ImportArguments : ReplicaArguments {
  std::string file;
};

constexpr std::size_t kImportLineMax = 2 * kMaxRecordBytes;
// Commits that are made durable together, and answered after that.
constexpr std::size_t kGroup = 256;
constexpr std::size_t kGroupBytes = 8 << 20;

Status readMember(std::string_view key, const json::value& value, JournalWrite& into) {
  if (key == "id") return readText(value, into.id, "id");
  if (key == "type") return readText(value, into.type, "type");
  if (key == "author") return readText(value, into.author, "author");
  if (key != "text" && key != "payload") return invalid("unknown member " + inQuotes(key));
  if (!into.payload.empty()) return invalid("text and payload are both there");
  into.payload = canonicalJson(key == "text" ? json::value{{"text", value}} : value);
  return key == "text" && !value.is_string() ? Status(wrongJsonType("text", "a string", value)) : okStatus();
}

Result<JournalWrite> readEntity(const InputLine& line) {
  if (line.overlong) return invalid(concat("longer than ", kImportLineMax, " bytes"));
  WITAN_TRY(value, parseJson(line.text, {.bytes = kImportLineMax}));
  WITAN_DO(checkIntegersKept(line.text));
  if (!value.is_object()) return wrongJsonType("the line", "an object", value);
  JournalWrite write;
  for (const auto& member : value.get_object())
    WITAN_DO(readMember({member.key().data(), member.key().size()}, member.value(), write));
  if (write.id.empty()) return invalid("id is missing");
  if (write.type.empty()) return invalid("type is missing");
  if (write.payload.empty()) return invalid("text or payload is missing");
  write.origin = ChangeOrigin::sync;
  write.sourceCursor = concat("line ", line.number);
  return write;
}

class JournalImport {
 public:
  JournalImport(ReplicaDir& dir, const ImportArguments& arguments, agents::ContentSeals seals)
      : dir_(dir), arguments_(arguments), writer_(dir.replica(), arguments.scope, std::move(seals)), refusals_(false) {}

  Status take(const InputLine& line) {
    if (line.text.find_first_not_of(" \t\r") == std::string_view::npos && !line.overlong) return okStatus();
    const auto write = readEntity(line);
    const auto dot = write.ok() ? writer_.put(*write, SystemClock().now()) : Result<std::optional<Dot>>(write.error());
    if (!dot.ok()) {
      refuse(line, write.ok() ? write->id : "", dot.error());
    } else {
      ++(*dot ? imported_ : unchanged_);
      if (arguments_.json) answer(line, write->id, *dot ? "imported" : "unchanged", *dot, "");
      groupBytes_ += line.text.size();
    }
    return ++group_ >= kGroup || groupBytes_ >= kGroupBytes ? settle() : okStatus();
  }

  // Makes durable what was taken, then says so.
  Status settle() {
    WITAN_DO(dir_.flush());
    std::fputs(answers_.c_str(), stdout);
    std::fflush(stdout);
    answers_.clear();
    group_ = groupBytes_ = 0;
    return okStatus();
  }

  Printed summary() const {
    refusals_.finish();
    Printed out;
    out.exitCode = refused_ > 0 ? kExitSomeRefused : kExitOk;
    if (!arguments_.json)
      out.text = concat(imported_, " imported, ", unchanged_, " unchanged, ", refused_, " refused\n");
    return out;
  }

 private:
  void refuse(const InputLine& line, const std::string& id, const Error& error) {
    ++refused_;
    if (arguments_.json) return answer(line, id, "refused", std::nullopt, error.message);
    const Error placed = invalid(
        concat(inputName(arguments_.file), ", line ", line.number, ": refused (", error.message, ")"), error.hint);
    refusals_.add(placed);
  }
  void answer(const InputLine& line, const std::string& id, const char* outcome, const std::optional<Dot>& dot,
              const std::string& message) {
    answers_ +=
        concat("{\"dot\":", dot ? toJson(VersionDot(*dot)) : "null", ",\"id\":", id.empty() ? "null" : toJson(id),
               ",\"line\":", line.number, ",\"message\":", message.empty() ? "null" : toJson(message),
               ",\"outcome\":\"", outcome, "\"}\n");
  }

  ReplicaDir& dir_;
  const ImportArguments& arguments_;
  JournalWriter writer_;
  std::size_t imported_ = 0, unchanged_ = 0, refused_ = 0, group_ = 0, groupBytes_ = 0;
  std::string answers_;
  ImportErrors refusals_;  // in words
};

// `witan journal import`: entities from JSON Lines, one a line, each in a commit of its own.
//
//   {"id":"plot-4","type":"plot","text":"beans"}
//   {"id":"plot-5","type":"plot","payload":{"crop":"peas","rows":3},"author":"ann"}
//
// A line that is no entity, or one that stands in conflict, is refused and the others go in. An entity that is there
// already with just this type and payload is left alone: so an import that was cut off can be run again. What is
// answered is durable. Prints its answers itself, while it works.
Result<Printed> importJournal(ReplicaDir& dir, const ImportArguments& arguments) {
  WITAN_TRY(seals, contentSealsOf(dir.path(), arguments.scope));
  JournalImport import(dir, arguments, std::move(seals));
  Progress progress("importing", "lines");
  WITAN_DO(forEachLine(arguments.file, kImportLineMax, [&](const InputLine& line) {
    progress.count(line.number);
    return import.take(line);
  }));
  WITAN_DO(import.settle());
  return import.summary();
}

}  // namespace

void addJournalCommand(Command& app) {
  Command* journal = app.noun("journal", "What people wrote, kept as they wrote it",
                              "witan journal put plot-4 --type plot --text beans");
  const auto verb = [&](const char* name, const char* what, const char* example, Missing missing, const auto& operation,
                        auto fill, auto format) {
    const auto [command, arguments] =
        addOperationVerb<JournalArguments>(*journal, name, what, example, missing, operation, fill, format);
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
  const auto [importCommand, imported] = addReplicaVerb<ImportArguments>(
      *journal, "import", "Entities from JSON Lines; a bad line is reported and the others go in",
      "witan journal import garden.jsonl", Missing::create, importJournal);
  importCommand->option("FILE", imported->file, "JSON Lines; - for standard input")->required();
  addScopeOption(importCommand, *imported);
}

}  // namespace witan::node
