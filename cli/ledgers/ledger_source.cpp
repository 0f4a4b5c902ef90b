#include "cli/ledgers/ledger_source.h"

#include <system_error>

#include "base/bytes.h"
#include "base/seams.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "cli/ledgers/node_ledgers.h"
#include "domains/registry.h"
#include "kernel/ledger/export_line.h"
#include "kernel/ledger/ledger_verify.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "program/durable_file.h"
#include "program/line_reader.h"
#include "program/progress.h"
#include "store/wal_damage.h"

namespace witan::node {

using namespace kernel;

namespace {

json::value reportOf(VerifyReport report, bool requireSigned) {
  const json::value none(nullptr);
  if (report.ok() && requireSigned && report.signedEntries < report.entries)
    report.problem = "unsigned: a checkpoint covers " + std::to_string(report.signedEntries) + " of " +
                     std::to_string(report.entries) + " entries";
  json::object said{{"ok", report.ok()},
                    {"entries", report.entries},
                    {"root", toHex(report.root)},
                    {"checkpoints", report.checkpoints},
                    {"signaturesChecked", report.signaturesChecked},
                    {"signedEntries", report.signedEntries},
                    {"replayed", report.replayed},
                    {"provenEntries", report.provenEntries},
                    {"badEntry", report.badEntry == 0 ? none : json::value(report.badEntry)},
                    {"problem", report.ok() ? none : json::value(report.problem)}};
  if (report.prunedEntries > 0) said["prunedEntries"] = report.prunedEntries;
  return said;
}

class StoredLedger final : public LedgerSource {
 public:
  StoredLedger(LedgerChoice choice, std::unique_ptr<store::Store> store, LedgerFormat format)
      : choice_(std::move(choice)), store_(std::move(store)), format_(std::move(format)) {}

  static Result<std::unique_ptr<LedgerSource>> open(const LedgerChoice& choice) {
    WITAN_TRY(store, openStoreOnly(choice.store));
    WITAN_TRY(format, Ledger::readFormat(*store));
    if (!format) return notFound("the store holds no ledger");
    return std::unique_ptr<LedgerSource>(std::make_unique<StoredLedger>(choice, std::move(store), *std::move(format)));
  }

  Status newest(std::size_t most, const Visit& visit) override {
    const auto takes = [this](const StoredEntry& e) {
      return choice_.entity.empty() || e.entry.entity == choice_.entity;
    };
    if (most > 0) return visitNewest(*store_, most, takes, [&](const StoredEntry& e) { visit(lineOf(e)); });
    return forEachEntry(*store_, [&](const StoredEntry& e) {
      if (takes(e)) visit(lineOf(e));
      return true;
    });
  }

  Result<std::vector<LedgerLine>> numbered(std::uint64_t seq) override {
    std::vector<LedgerLine> lines;
    WITAN_TRY(found, visitEntry(*store_, seq, [&](const StoredEntry& e) { lines.push_back(lineOf(e)); }));
    (void)found;
    return lines;
  }

  Result<json::value> verify(const VerifyChoice& how) override {
    VerifyOptions options;
    WITAN_TRY(keys, readVerifierKeys(how.vkeys));
    if (keys.empty()) {
      WITAN_TRY(own, readVerifierKey(choice_.store));
      WITAN_TRY(key, parseVerifierKey(own));
      keys.push_back(std::move(key));
    }
    const NoteVerifier key = keys.front();
    options.checkpointKey = key;
    for (const std::string& file : how.checkpoints) {
      WITAN_TRY(head, readSignedHead(file, keys, how.require));
      options.kept.push_back(std::move(head));
    }
    // One that the given key did not sign is reported with those in the store.
    if (auto last = lastSignedHead(choice_.store, key); last.ok() && *last) options.kept.push_back(**std::move(last));
    std::unique_ptr<DomainModule> module;
    if (how.replay) {
      WITAN_SET(module, domains::domainOf(format_));
      options.replay = module.get();
    }
    for (const std::string& what : store::keptDamage(std::filesystem::path(choice_.store) / "db"))
      putErr("witan: " + what + "\n");
    Progress progress("verifying", "entries");
    options.progress = [&](std::uint64_t entries) { progress.count(entries); };
    WITAN_TRY(report, verifyLedger(*store_, options));
    return reportOf(std::move(report), how.requireSigned);
  }

  Status follow(const std::function<bool(const LedgerLine&)>&) override {
    return unavailable("no node runs on a ledger of witan run", "see it with: witan ledger tail");
  }

 private:
  LedgerLine lineOf(const StoredEntry& e) const {
    return {"", e.seq, toHex(e.leaf), entryStory(e.entry), entryJson(e.entry, format_.invariants)};
  }

  const LedgerChoice choice_;
  const std::unique_ptr<store::Store> store_;
  const LedgerFormat format_;
};

}  // namespace

Result<std::unique_ptr<LedgerSource>> LedgerSource::open(const LedgerChoice& choice) {
  if (!choice.store.empty()) return StoredLedger::open(choice);
  WITAN_TRY(opened, NodeLedgers::open(choice));
  return std::unique_ptr<LedgerSource>(std::move(opened));
}

namespace {

class ExportLines {
 public:
  static Result<ExportLines> open(const std::string& path) {
    WITAN_TRY(file, InputFile::openFile(path));
    return ExportLines(std::move(file), path);
  }

  // None: there are no more. Errors: it cannot be read; a line is too long.
  Result<std::optional<std::string>> next() {
    for (;;) {
      if (const auto line = cutter_.next(rest_)) return taken(*line);
      if (cutter_.passedOver() > 0) return tooLong();
      WITAN_TRY(got, file_.read({chunk_.get(), kChunk}));
      rest_ = {chunk_.get(), got};
      if (got > 0) continue;
      if (cutter_.last())
        return invalid(concat(path_, ": line ", cutter_.number(), " has no end: the file was cut"),
                       "export it again: each line ends in a newline");
      return std::optional<std::string>();
    }
  }

 private:
  static constexpr std::size_t kChunk = 64 * 1024;

  ExportLines(InputFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::optional<std::string>> taken(const InputLine& line) const {
    if (line.overlong) return tooLong();
    return std::optional(std::string(line.text));
  }
  Error tooLong() const {
    return invalid(concat(path_, ": line ", cutter_.number(), " is longer than ", kMaxExportLine, " bytes"));
  }

  InputFile file_;
  std::string path_;
  LineCutter cutter_{kMaxExportLine};
  std::unique_ptr<char[]> chunk_ = std::make_unique<char[]>(kChunk);
  std::string_view rest_;  // of the chunk
};

}  // namespace

Result<json::value> verifyExportFile(const std::string& file, const VerifyChoice& how) {
  VerifyOptions options;
  WITAN_TRY(keys, readVerifierKeys(how.vkeys));
  for (const std::string& checkpoint : how.checkpoints) {
    WITAN_TRY(head, readSignedHead(checkpoint, keys, how.require));
    options.kept.push_back(std::move(head));
  }
  options.keysOf = [&keys](std::string_view device) {
    std::vector<PublicKey> known;
    for (const NoteVerifier& key : keys)
      if (key.name.starts_with("witan/") && key.name.ends_with(concat('/', device))) known.push_back(key.publicKey);
    return known;
  };
  auto lines = ExportLines::open(file);
  if (!lines && lines.error().code == ErrorCode::notFound)
    return Error{ErrorCode::notFound, lines.error().message, "make one with: witan ledger export"};
  WITAN_DO(lines.ok() ? okStatus() : Status(lines.error()));
  Progress progress("verifying", "entries");
  options.progress = [&](std::uint64_t entries) { progress.count(entries); };
  WITAN_TRY(report, verifyExport([&] { return lines->next(); }, options));
  if (report.ok() && report.entries == 0 && (how.requireSigned || !how.checkpoints.empty()))
    report.problem = file + " has no entry";
  return reportOf(std::move(report), how.requireSigned);
}

namespace {

Result<std::int64_t> microsOf(const json::value& row) {
  const json::value* entry = row.is_object() ? row.get_object().if_contains("entry") : nullptr;
  const json::value* time = entry != nullptr && entry->is_object() ? entry->get_object().if_contains("time") : nullptr;
  if (time == nullptr || !time->is_string()) return invalid("an entry without a time");
  WITAN_TRY(read, parseTime(time->get_string()));
  return read.micros;
}

}  // namespace

LedgerPages::LedgerPages(const std::vector<std::string>& partitions, Fetch fetch) : fetch_(std::move(fetch)) {
  for (const std::string& partition : partitions) ledgers_.push_back({partition, 0, {}, 0, 0, false});
}

// So that the row at `at` is the ledger's next one.
Status LedgerPages::fill(Ledger& ledger) {
  if (ledger.over) return okStatus();
  if (ledger.at == ledger.page.size()) {
    WITAN_TRY(page, fetch_(ledger.partition, ledger.after));
    ledger.page = std::move(page);
    ledger.at = 0;
    ledger.over = ledger.page.empty();
    if (ledger.over) return okStatus();
  }
  const json::value& row = ledger.page[ledger.at];
  WITAN_SET(ledger.micros, microsOf(row));
  const json::value* number = row.get_object().if_contains("seq");
  std::error_code none;
  const std::uint64_t seq = number == nullptr ? 0 : number->to_number<std::uint64_t>(none);
  if (number == nullptr || none) return invalid("an entry without a number");
  if (seq <= ledger.after) return invalid("entries of " + ledger.partition + " that are not in order");
  return okStatus();
}

Result<std::optional<json::value>> LedgerPages::next() {
  Ledger* first = nullptr;
  for (Ledger& ledger : ledgers_) {
    WITAN_DO(fill(ledger));
    if (!ledger.over && (first == nullptr || ledger.micros < first->micros)) first = &ledger;
  }
  if (first == nullptr) return std::optional<json::value>();
  json::value row = std::move(first->page[first->at++]);
  first->after = row.at("seq").to_number<std::uint64_t>();
  return std::optional(std::move(row));
}

}  // namespace witan::node
