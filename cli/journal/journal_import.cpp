#include "cli/journal/journal_import.h"

#include <cstdio>

#include "base/json.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/seams.h"
#include "node/daemon/agents_policy_file.h"
#include "node/operations/journal.h"
#include "node/operations/versions.h"
#include "program/error_report.h"
#include "program/line_reader.h"
#include "program/progress.h"

namespace witan::node {

using namespace replication;
using operations::JournalWrite;
using operations::JournalWriter;

namespace {

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
  if (line.overlong) return invalid("longer than " + std::to_string(kImportLineMax) + " bytes");
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
  write.sourceCursor = "line " + std::to_string(line.number);
  return write;
}

class Import {
 public:
  Import(ReplicaDir& dir, const ImportArguments& arguments, agents::ContentSeals seals)
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
      out.text = std::to_string(imported_) + " imported, " + std::to_string(unchanged_) + " unchanged, " +
                 std::to_string(refused_) + " refused\n";
    return out;
  }

 private:
  void refuse(const InputLine& line, const std::string& id, const Error& error) {
    ++refused_;
    if (arguments_.json) return answer(line, id, "refused", std::nullopt, error.message);
    const Error placed = invalid(
        inputName(arguments_.file) + ", line " + std::to_string(line.number) + ": refused (" + error.message + ")",
        error.hint);
    refusals_.add(placed);
  }
  void answer(const InputLine& line, const std::string& id, const char* outcome, const std::optional<Dot>& dot,
              const std::string& message) {
    answers_ += "{\"dot\":" + (dot ? toJson(operations::VersionDot(*dot)) : "null") +
                ",\"id\":" + (id.empty() ? "null" : toJson(id)) + ",\"line\":" + std::to_string(line.number) +
                ",\"message\":" + (message.empty() ? "null" : toJson(message)) + ",\"outcome\":\"" + outcome + "\"}\n";
  }

  ReplicaDir& dir_;
  const ImportArguments& arguments_;
  JournalWriter writer_;
  std::size_t imported_ = 0, unchanged_ = 0, refused_ = 0, group_ = 0, groupBytes_ = 0;
  std::string answers_;
  ImportErrors refusals_;  // in words
};

}  // namespace

Result<Printed> importJournal(ReplicaDir& dir, const ImportArguments& arguments) {
  WITAN_TRY(seals, contentSealsOf(dir.path()));
  Import import(dir, arguments, std::move(seals));
  Progress progress("importing", "lines");
  WITAN_DO(forEachLine(arguments.file, kImportLineMax, [&](const InputLine& line) {
    progress.count(line.number);
    return import.take(line);
  }));
  WITAN_DO(import.settle());
  return import.summary();
}

}  // namespace witan::node
