// `witan domain import|export`: public vulnerability records in and out of the domain disclosure.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include "program/command_line.h"

#include "base/json_cut.h"
#include "base/seams.h"
#include "cli/commands/commands.h"
#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/records/export.h"
#include "domains/disclosure/records/import.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "program/durable_file.h"
#include "program/error_report.h"
#include "program/line_reader.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace domains::disclosure;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFileMax = 256 << 20;
constexpr std::size_t kRecordMax = 16 << 20;
constexpr std::size_t kRecordValues = 1'000'000;  // JSON values and names in one record
constexpr std::size_t kLineMax = 1 << 20;         // of witan run
constexpr std::string_view kOnlyDomain = "disclosure";

struct RecordArguments {
  std::string domain, from, to, store, dir, entity = "portfolio", at;
  std::vector<std::string> files, only;
  Publisher publisher;
  bool noInit = false, json = false;
};

Status knownDomain(const std::string& name) {
  if (name == kOnlyDomain) return okStatus();
  return invalid(concat("domain \"", clip(name), "\" reads and writes no public records"), "disclosure does");
}

void complain(const std::string& where, const Error& error, bool asJson) {
  reportError({error.code, where + ": " + error.message, error.hint}, asJson);
}

// The files themselves, and of folders every .json and .jsonl below, in the order of their names.
Result<std::vector<std::string>> filesOf(const std::vector<std::string>& given) {
  std::vector<std::string> all;
  for (const std::string& name : given) {
    std::error_code failed;
    if (!fs::is_directory(name, failed)) {
      all.push_back(name);
      continue;
    }
    std::vector<std::string> below;
    fs::recursive_directory_iterator at(name, failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed))
      if (at->is_regular_file() && (at->path().extension() == ".json" || at->path().extension() == ".jsonl"))
        below.push_back(at->path().string());
    if (failed) return ioFailed(name + ": " + failed.message(), "give files or folders that can be read");
    std::ranges::sort(below);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

Result<json::value> parsedRecord(std::string_view text) {
  if (text.size() > kRecordMax) return invalid("a record of more than 16 MiB");
  if (jsonValuesAtMost(text) > kRecordValues)
    return invalid(concat("a record of more than ", kRecordValues, " values"));
  return parseJson(text, {.bytes = kRecordMax, .depth = 64});
}

class Import {
 public:
  Import(const RecordArguments& a, RecordFormat format, Time asOf)
      : a_(a), format_(format), asOf_(asOf), refusals_(a.json) {}

  void file(const std::string& path) {
    if (path.ends_with(".jsonl")) return lines(path);
    const auto content = readSmallFile(path, kFileMax);
    if (!content) return refusals_.add(content.error());
    if (!*content) return refuse(path, ioFailed("there is no such file", "give files or folders of records"));
    const std::size_t first = (*content)->find_first_not_of(" \t\r\n");
    if (first == std::string::npos || (**content)[first] != '[') return text(path, **content);
    if (const Status whole = list(**content, {}); !whole.ok()) return refuse(path, whole.error());
    (void)list(**content, [&](std::string_view item, std::size_t n) { text(concat(path, "[", n, "]"), item); });
  }

  int finish() {
    refusals_.finish();
    const std::string events =
        importEvents(advisories_, format_, {.entity = a_.entity, .asOf = asOf_, .begin = !a_.noInit});
    std::fwrite(events.data(), 1, events.size(), stdout);
    std::size_t undated = 0, withdrawn = 0, fixed = 0, several = 0;
    for (const Advisory& advisory : advisories_) {
      undated += !advisory.published;
      withdrawn += advisory.withdrawn;
      fixed += advisory.fix.has_value();
      several += advisory.cves.size() > 1;
    }
    std::fprintf(stderr,
                 "%s: %zu records imported (%zu undated, %zu withdrawn, %zu with a fix, %zu with further CVE ids left "
                 "out), %zu refused\n",
                 std::string(enumName(format_)).c_str(), advisories_.size(), undated, withdrawn, fixed, several,
                 refusals_.count());
    return refusals_.count() == 0 ? kExitOk : kExitSomeRefused;
  }

 private:
  void lines(const std::string& path) {
    const Status read = forEachLine(path, kRecordMax, [&](const InputLine& line) {
      const std::string where = concat(path, ":", line.number);
      if (line.overlong)
        refuse(where, invalid("a record of more than 16 MiB"));
      else if (line.text.find_first_not_of(" \t\r") != std::string_view::npos)
        text(where, line.text);
      return okStatus();
    });
    if (!read.ok()) refuse(path, read.error());
  }
  // Without a visitor: is it a list at all?
  static Status list(std::string_view content, const std::function<void(std::string_view, std::size_t)>& visit) {
    JsonCut cut(content);
    for (;;) {
      WITAN_TRY(part, cut.next());
      if (!part) return okStatus();
      if (visit) visit(part->text, cut.count() - 1);
    }
  }
  void text(const std::string& where, std::string_view content) {
    if (const auto parsed = parsedRecord(content))
      record(where, *parsed);
    else
      refuse(where, parsed.error());
  }
  void record(const std::string& where, const json::value& value) {
    auto advisory = readAdvisory(format_, value, asOf_);
    if (!advisory) return refuse(where, advisory.error());
    const auto [first, fresh] = seen_.emplace(advisory->id, where);
    if (!fresh)
      return refuse(
          where,
          {ErrorCode::invalidInput, "record " + advisory->id + " was read from " + first->second + " already", {}});
    if (Status fits = checkLines(*advisory); !fits.ok()) return refuse(where, fits.error());
    advisories_.push_back(*std::move(advisory));
  }
  // All its acts or none: a line that witan run would refuse must not leave the others behind.
  Status checkLines(const Advisory& advisory) const {
    const std::string events = importEvents({advisory}, format_, {.entity = a_.entity, .asOf = asOf_, .begin = false});
    std::istringstream in(events);
    for (std::string line; std::getline(in, line);)
      if (line.size() > kLineMax)
        return invalid(
            concat("record ", advisory.id, " gives an act of ", line.size(), " bytes, and a line has at most 1 MiB"));
    return okStatus();
  }
  void refuse(const std::string& where, const Error& error) {
    refusals_.add({error.code, where + ": " + error.message, error.hint});
  }

  const RecordArguments& a_;
  RecordFormat format_;
  Time asOf_;
  std::vector<Advisory> advisories_;
  std::map<std::string, std::string> seen_;
  ImportErrors refusals_;
};

Result<int> importRecords(const RecordArguments& a) {
  WITAN_DO(knownDomain(a.domain));
  Time asOf = SystemClock().now();
  if (!a.at.empty()) {
    WITAN_SET(asOf, parseTime(a.at));
  }
  WITAN_TRY(files, filesOf(a.files));
  Import import(a, *parseEnum<RecordFormat>(a.from), asOf);
  for (const std::string& path : files) import.file(path);
  return import.finish();
}

Result<int> exportPortfolio(const RecordArguments& a) {
  WITAN_DO(knownDomain(a.domain));
  WITAN_DO(a.publisher.validate());
  if (a.store.empty() == a.dir.empty())
    return reportUsage(
        invalid("the ledger is given once", "--store of witan run, or --dir of a node or of witan agent run"), a.json);
  std::optional<StoreDir> opened;  // what holds the state
  std::unique_ptr<NodeDir> node;
  const kernel::EntityState* entity = nullptr;
  if (!a.dir.empty()) {
    WITAN_TRY(path, replicaDirPath(a.dir));
    WITAN_SET(node, openAtRest(path));
    Replica& replica = node->replica();
    if (PartitionHost* host = replica.host(replica.partitionFor(kOnlyDomain, a.entity)))
      entity = host->partition().state(a.entity);
  } else {
    WITAN_SET(opened, openStoreDir({.dir = a.store, .domain = std::string(kOnlyDomain)}));
    entity = opened->ledger->partition().state(a.entity);
  }
  if (entity == nullptr)
    return notFound(concat("no portfolio \"", clip(a.entity), "\" in ", a.dir.empty() ? a.store : a.dir),
                    "name it with --entity");
  const Exported exported = exportRecords(stateOf(*entity), *parseEnum<ExportFormat>(a.to), a.publisher, a.only);
  for (const json::object& document : exported.documents) {
    const std::string line = canonicalJson(document) + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
  }
  for (const std::string& reason : exported.leftOut)
    complain("left out", {ErrorCode::invalidInput, reason, {}}, a.json);
  std::fprintf(stderr, "%s: %zu exported, %zu left out\n", a.to.c_str(), exported.documents.size(),
               exported.leftOut.size());
  return exported.leftOut.empty() ? kExitOk : kExitSomeRefused;
}

}  // namespace

void addDomainRecordCommands(Command& domain) {
  const auto verb = [&](const char* name, const char* about, const char* example,
                        Result<int> (*work)(const RecordArguments&)) {
    const auto a = std::make_shared<RecordArguments>();
    Command* command = domain.command(name, about);
    command->option("name", a->domain, "Domain: disclosure")->required();
    command->option("--entity", a->entity, "The portfolio")->showDefault();
    command->flag("--json", a->json, "Records that are refused or left out as JSON on stderr; stdout is JSON Lines");
    command->footer(concat("Example: ", example));
    runs(command, a, work);
    return std::pair(command, a);
  };
  const auto [importing, in] =
      verb("import", "Read OSV or CVE JSON 5.x records; print events for witan run",
           "witan domain import disclosure --from osv docs/examples/osv | witan run --domain disclosure --events -",
           importRecords);
  importing->option("files", in->files, "Records: .json (one, or a list of them), .jsonl, or folders of such")
      ->required();
  importing->option("--from", in->from, "Form of the records")->required()->oneOf({"osv", "cve"});
  importing->option("--at", in->at, "Time of the import, for undated records (default: now)")->check(readBy(parseTime));
  importing->flag("--no-init", in->noInit, "The portfolio exists already: no init line");
  const auto [exporting, out] =
      verb("export", "Print what a portfolio has disclosed as CSAF VEX or CVE JSON, one document a line",
           "witan domain export disclosure --to csaf --store ledger --publisher 'Example Lab'", exportPortfolio);
  exporting->option("--to", out->to, "Form of the documents")->required()->oneOf({"csaf", "cve"});
  exporting->option("--store", out->store, "Folder of the ledger (see witan run --store)");
  exporting->option("--dir", out->dir, "Or a data directory that no node has open, as witan agent run makes it");
  exporting->option("--only", out->only, "These vulnerabilities only");
  exporting->option("--publisher", out->publisher.name, "Who publishes")->showDefault();
  exporting->option("--site", out->publisher.site, "The publisher's namespace, a URL")->showDefault();
  exporting->option("--org-id", out->publisher.orgId,
                    "UUID of the publisher as a CNA (default: derived from the site)");
}

}  // namespace witan::node
