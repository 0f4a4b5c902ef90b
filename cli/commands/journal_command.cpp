// `witan journal put|get|list|resolve|import` on a data directory.
#include "base/json.h"
#include "base/json_integers.h"
#include "base/quote.h"
#include "base/time.h"
#include "cli/client/replica_verb.h"
#include "cli/commands/commands.h"
#include "cli/journal/journal_import.h"
#include "cli/journal/journal_writer.h"
#include "domains/agents.h"
#include "node/daemon/content_seals.h"
#include "program/line_reader.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace replication;

namespace {

struct JournalArguments : ReplicaArguments {
  std::string id, type, author, jsonFile, choose;
  std::optional<std::string> text;
  std::vector<std::string> seen;
};

// As \u00XX. UTF-8 in, UTF-8 out: the controls from U+0080 to U+009F are the bytes C2 80 to C2 9F.
std::string escapedControls(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    const bool c1 = c == 0xc2 && next < 0xa0;
    if (c >= 0x20 && c != 0x7f && !c1) {
      out += text[i];
      continue;
    }
    if (c1) c = static_cast<unsigned char>(text[++i]);
    constexpr char kHex[] = "0123456789abcdef";
    out += std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
  }
  return out;
}

// A payload that is only a text reads as that, unless it has characters that would move a terminal's cursor or colour
// it (C0, DEL, C1): other devices wrote it.
std::string payloadWords(const std::string& payload) {
  const auto value = parseJson(payload);
  if (!value.ok() || !value->is_object() || value->get_object().size() != 1) return escapedControls(payload);
  const json::value* text = value->get_object().if_contains("text");
  return escapedControls(text != nullptr && text->is_string() ? std::string(text->get_string()) : payload);
}

Result<std::string> payloadOf(const JournalArguments& a) {
  if (a.text.has_value() == !a.jsonFile.empty())
    return invalid("the content is given once", "give --text TEXT or --json-payload FILE (- for standard input)");
  if (a.text) return "{\"text\":" + inJson(*a.text) + "}";
  WITAN_TRY(text, readInput(a.jsonFile, kMaxRecordBytes));
  if (parseJson(text, {.bytes = kMaxRecordBytes}).ok()) WITAN_DO(checkIntegersKept(text));  // else said when it is put
  return text;
}

std::string bodyJson(const JournalBody& body) {
  return "\"author\":" + inJson(body.author) + ",\"editedAtMs\":" + std::to_string(body.editedAtMs) +
         ",\"payload\":" + body.payload + ",\"type\":" + inJson(body.type);
}

std::string siblingJson(const Sibling& sibling) {
  return "{\"deleted\":" + std::string(sibling.body ? "false" : "true") + ",\"dot\":" + dotJson(sibling.dot) +
         (sibling.body ? "," + bodyJson(*sibling.body) : "") + "}";
}

std::string viewJson(const std::string& id, const JournalView& view) {
  std::string out = "{\"conflict\":" + std::string(view.inConflict() ? "true" : "false") + ",\"id\":" + inJson(id) +
                    ",\"shown\":" + (view.shown ? dotJson(view.siblings[*view.shown].dot) : "null") + ",\"siblings\":[";
  for (const Sibling& sibling : view.siblings) out += (out.back() == '[' ? "" : ",") + siblingJson(sibling);
  out += "],\"unreadable\":[";
  for (const Unreadable& u : view.unreadable)
    out += (out.back() == '[' ? "{\"dot\":" : ",{\"dot\":") + dotJson(u.dot) + ",\"why\":" + inJson(u.why) + "}";
  return out + "]}\n";
}

std::string siblingWords(const Sibling& sibling) {
  if (!sibling.body) return "deleted";
  return payloadWords(sibling.body->payload) + "  (" + sibling.body->type + ", " + sibling.body->author + ", " +
         formatTime({sibling.body->editedAtMs * 1000}) + ")";
}

std::string viewWords(const std::string& id, const JournalView& view) {
  if (!view.inConflict())
    return id + "  " + (view.siblings.empty() ? "unreadable" : siblingWords(view.siblings.front())) + "\n";
  std::string out = id + " was edited on several devices at once:\n";
  std::string seen;
  for (std::size_t i = 0; i < view.siblings.size(); ++i) {
    const Sibling& sibling = view.siblings[i];
    out += "  " + dotWords(sibling.dot) + "  " + siblingWords(sibling) +
           (view.shown == i ? "  <- shown until then" : "") + "\n";
    seen += " --seen " + dotWords(sibling.dot);
  }
  for (const Unreadable& u : view.unreadable) {
    out += "  " + dotWords(u.dot) + "  cannot be read by this build (" + u.why + ")\n";
    seen += " --seen " + dotWords(u.dot);
  }
  return out +
         "settle it with one of them (--choose VERSION), or with a new text (--text TEXT):\n  witan journal resolve " +
         id + seen + " --choose VERSION\n";
}

Result<JournalView> viewOfExisting(JournalWriter& writer, const JournalArguments& a) {
  WITAN_TRY(view, writer.view(a.id));
  const bool gone = !view.inConflict() && view.unreadable.empty() && !view.shown;
  if (gone)
    return Error{ErrorCode::notFound, "no journal entity " + inQuotes(a.id) + " in scope " + a.scope,
                 "see: witan journal list"};
  return view;
}

Printed written(const JournalArguments& a, const std::optional<Dot>& dot, const char* what) {
  if (a.json) return {"{\"dot\":" + (dot ? dotJson(*dot) : "null") + ",\"id\":" + inJson(a.id) + "}\n"};
  return {dot ? std::string(what) + " " + a.id + ", version " + dotWords(*dot) + "\n" : a.id + " says that already\n"};
}

Result<Printed> put(ReplicaDir& dir, const JournalArguments& a) {
  SystemClock clock;
  WITAN_TRY(seals, contentSealsOf(dir.path()));
  JournalWriter writer(dir.replica(), a.scope, clock, std::move(seals));
  WITAN_TRY(payload, payloadOf(a));
  JournalWrite write{a.id, a.type, std::move(payload), a.author, ChangeOrigin::local, ""};
  WITAN_TRY(before, writer.view(a.id));
  if (before.inConflict())
    return Error{ErrorCode::conflict, a.id + " was edited on several devices at once, and nobody has settled it yet",
                 "see them with: witan journal resolve " + a.id};
  if (write.type.empty() && before.shown) write.type = before.siblings[*before.shown].body->type;
  if (write.type.empty()) return invalid(a.id + " is new and has no type", "give --type TYPE");
  WITAN_TRY(dot, writer.put(write));
  return written(a, dot, "wrote");
}

Result<Printed> get(ReplicaDir& dir, const JournalArguments& a) {
  SystemClock clock;
  JournalWriter writer(dir.replica(), a.scope, clock, domains::contentSeals());
  WITAN_TRY(view, viewOfExisting(writer, a));
  return Printed{a.json ? viewJson(a.id, view) : viewWords(a.id, view)};
}

Result<Printed> list(ReplicaDir& dir, const JournalArguments& a) {
  SystemClock clock;
  JournalWriter writer(dir.replica(), a.scope, clock, domains::contentSeals());
  Printed answer;
  Space* space = dir.replica().database(DatabaseName::journal).find(a.scope);
  if (space == nullptr) return answer;
  for (const std::string& id : space->keys(Kind::journal)) {
    WITAN_TRY(view, writer.view(id));
    if (!view.inConflict() && !view.shown) continue;
    if (a.json) {
      answer.text += viewJson(id, view);
    } else {
      const std::size_t others = view.siblings.size() + view.unreadable.size() - 1;
      answer.text += id + "  " + (view.shown ? siblingWords(view.siblings[*view.shown]) : "unreadable") +
                     (others > 0 ? "  (+" + std::to_string(others) + " concurrent, to be resolved)" : "") + "\n";
    }
  }
  return answer;
}

// What the person settles on: a new content, or that of one of the versions.
Result<JournalWrite> choice(const JournalArguments& a, const JournalView& view) {
  JournalWrite write{a.id, a.type, "", a.author, ChangeOrigin::local, ""};
  if (write.type.empty() && view.shown) write.type = view.siblings[*view.shown].body->type;
  if (a.choose.empty()) {
    WITAN_TRY(payload, payloadOf(a));
    write.payload = std::move(payload);
    return write;
  }
  WITAN_TRY(chosen, parseDot(a.choose));
  for (const Sibling& sibling : view.siblings) {
    if (sibling.dot != chosen) continue;
    if (!sibling.body) return invalid(a.choose + " deletes " + a.id, "settle on a content");
    write.payload = sibling.body->payload;
    if (a.type.empty()) write.type = sibling.body->type;
    return write;
  }
  return Error{ErrorCode::notFound, a.choose + " is not among the versions of " + a.id,
               "see them with: witan journal resolve " + a.id};
}

Result<Printed> resolve(ReplicaDir& dir, const JournalArguments& a) {
  SystemClock clock;
  WITAN_TRY(seals, contentSealsOf(dir.path()));
  JournalWriter writer(dir.replica(), a.scope, clock, std::move(seals));
  WITAN_TRY(view, viewOfExisting(writer, a));
  if (a.choose.empty() && !a.text && a.jsonFile.empty())
    return Printed{a.json ? viewJson(a.id, view) : viewWords(a.id, view)};
  std::vector<Dot> seen;
  for (const std::string& text : a.seen) {
    WITAN_TRY(dot, parseDot(text));
    seen.push_back(dot);
  }
  if (view.inConflict() && seen.empty())
    return invalid("which versions were seen is not said",
                   "copy the command that `witan journal resolve " + a.id + "` prints");
  WITAN_TRY(write, choice(a, view));
  WITAN_TRY(dot, writer.resolve(write, std::move(seen)));
  return written(a, dot, "resolved");
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
  const auto verb = [&](const char* name, const char* what, const char* example, Missing missing, auto work,
                        bool takesId = true) {
    const auto arguments = std::make_shared<JournalArguments>();
    Command* command = addReplicaVerb(*journal, name, what, example, arguments, missing, work, exitCode);
    if (takesId) command->option("ID", arguments->id, "The entity")->required()->check(idText("journal entity"));
    addScopeOption(command, *arguments);
    return std::pair(command, arguments);
  };
  const auto [putCommand, given] = verb("put", "Write an entity, new or on top of what this device shows",
                                        "witan journal put plot-4 --type plot --text beans", Missing::create, put);
  addContentOptions(putCommand, *given);
  verb("get", "An entity; all its versions if it was edited on several devices at once", "witan journal get plot-4",
       Missing::refuse, get);
  verb("list", "All entities", "witan journal list", Missing::refuse, list, false);
  const auto [resolveCommand, settled] =
      verb("resolve", "Show concurrent edits side by side; settle on one, or on a new content",
           "witan journal resolve plot-4 --seen a@00000001:7 --seen b@00000002:3 --choose a@00000001:7",
           Missing::refuse, resolve);
  addContentOptions(resolveCommand, *settled);
  resolveCommand->option("--choose", settled->choose, "The version to settle on")
      ->typeName("VERSION")
      ->excludes({"--text", "--json-payload"})
      ->check(readBy(parseDot));
  resolveCommand->option("--seen", settled->seen, "The versions that were seen; refused if there are others now")
      ->typeName("VERSION")
      ->oneWordEach()
      ->check(readBy(parseDot));
  const auto imported = std::make_shared<ImportArguments>();
  Command* importCommand =
      addReplicaVerb(*journal, "import", "Entities from JSON Lines; a bad line is reported and the others go in",
                     "witan journal import garden.jsonl", imported, Missing::create, importJournal, exitCode);
  importCommand->option("FILE", imported->file, "JSON Lines; - for standard input")->required();
  addScopeOption(importCommand, *imported);
}

}  // namespace witan::node
