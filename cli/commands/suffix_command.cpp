// `witan suffix list|export|propose`: divergent suffixes, which a takeover took out of this device's logs: as records,
// as a file, and asked for again from the present owner.
#include <memory>
#include <optional>

#include "base/seams.h"
#include "base/string_util.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/http_message.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "node/ledgers/suffix_rows.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::uint64_t kPage = 100;
constexpr std::size_t kExportMost = 256 << 20;  // bytes of a file

struct SuffixArguments : LiveArguments {
  std::string suffix, file;
  bool dryRun = false, force = false;
};

// The suffixes of a data directory, through the node that runs on it or at rest.
class Suffixes {
 public:
  static Result<Suffixes> open(const std::string& dir) {
    WITAN_TRY(path, replicaDirPath(dir));
    Suffixes opened;
    if (auto running = ControlClient::open(path); running.ok())
      opened.client_ = *std::move(running);
    else
      WITAN_SET(opened.node_, openAtRest(path));
    return opened;
  }
  Result<SuffixRows> rows() const {
    return client_ ? answer<SuffixRows>("/v1/ledger/suffixes") : suffixRows(node_->ledgers());
  }
  // Of one, in their order.
  Status each(const std::string& suffix, const std::function<Status(const SuffixRecord&)>& visit) const {
    for (std::uint64_t after = 0;;) {
      const std::string query = concat("?suffix=", net::percentEncoded(suffix), "&after=", after, "&limit=", kPage);
      WITAN_TRY(page, client_ ? answer<SuffixRecords>("/v1/ledger/suffixes/records" + query)
                              : suffixRecords(node_->ledgers(), suffix, after, kPage));
      for (const SuffixRecord& record : page.records) WITAN_DO(visit(record));
      if (page.records.size() < kPage) return okStatus();
      after = page.records.back().number;
    }
  }
  Status close() const {
    const Time wall = SystemClock().now();
    return node_ ? node_->close({wall, wall.micros / 1000}) : okStatus();
  }

 private:
  template <class T>
  Result<T> answer(const std::string& path) const {
    WITAN_TRY(got, client_->get(path));
    T value;
    WITAN_DO(readJson(got, value, "the node's answer"));
    return value;
  }
  std::optional<ControlClient> client_;
  std::unique_ptr<NodeDir> node_;
};

// The one whose id begins so.
Result<std::string> chosen(const Suffixes& suffixes, const std::string& id) {
  WITAN_TRY(all, suffixes.rows());
  std::vector<std::string> fitting;
  for (const SuffixRow& row : all.suffixes) {
    if (row.suffix == id) return id;
    if (row.suffix.starts_with(id)) fitting.push_back(row.suffix);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) return notFound("no divergent suffix " + id + " is kept here", "see: witan suffix list");
  return conflict("several divergent suffixes begin with " + id + ": " + joined(fitting), "give more of the id");
}

template <class Work>
Result<int> onSuffix(const SuffixArguments& a, Work work) {
  WITAN_TRY(suffixes, Suffixes::open(a.dir));
  const auto done = [&]() -> Result<int> {
    WITAN_TRY(id, chosen(suffixes, a.suffix));
    return work(suffixes, id);
  }();
  WITAN_DO(suffixes.close());
  return done;
}

Result<int> list(const SuffixArguments& a) {
  WITAN_TRY(suffixes, Suffixes::open(a.dir));
  const auto rows = suffixes.rows();
  WITAN_DO(suffixes.close());
  if (!rows.ok()) return rows.error();
  WITAN_TRY(answer, parseJson(toJson(*rows), kOwnJson));
  return print(answer, a.json, [](const json::value& all) {
    std::vector<std::vector<std::string>> lines;
    for (const json::value& row : rowsOf(all, "suffixes"))
      lines.push_back(
          {shown(row, "suffix"), shown(row, "entries") + " entries", shown(row, "beginnings") + " beginnings"});
    return lines.empty() ? std::string("none\n") : columns(lines);
  });
}

Result<int> exportAll(const SuffixArguments& a) {
  if (std::error_code ec; !a.force && std::filesystem::exists(a.file, ec))
    return conflict("there is a file " + a.file, "give another one, or --force to replace it");
  return onSuffix(a, [&](const Suffixes& suffixes, const std::string& id) -> Result<int> {
    std::string text;
    std::uint64_t records = 0;
    WITAN_DO(suffixes.each(id, [&](const SuffixRecord& record) -> Status {
      text += toJson(record) + "\n", ++records;
      return text.size() <= kExportMost ? okStatus() : Status(invalid("the suffix is larger than a file may be"));
    }));
    WITAN_DO(replaceFile(a.file, text, 0644));
    return print(json::object{{"suffix", id}, {"records", records}, {"file", a.file}}, a.json,
                 [](const json::value& told) {
                   return concat(shown(told, "records"), " records of ", shown(told, "suffix"), " are in ",
                                 shown(told, "file"), "\n");
                 });
  });
}

// {"number","operationId","entity","outcome"}; outcome: of the decision, "duplicate", "waiting", "refused", "left out".
json::object outcomeOf(const SuffixRecord& record, std::string outcome, const std::string& message = {}) {
  json::object row{{"number", record.number},
                   {"operationId", record.operationId},
                   {"entity", record.entity},
                   {"outcome", std::move(outcome)}};
  if (!message.empty()) row["message"] = message;
  return row;
}

json::object askAgain(const ControlClient& client, const SuffixRecord& record) {
  if (record.why) return outcomeOf(record, "left out", *record.why);
  const json::object& body = (record.begin ? *record.begin : *record.propose).get_object();
  const auto made = client.post(record.begin ? "/v1/entities" : "/v1/propose", body);
  if (!made.ok()) return outcomeOf(record, "refused", made.error().message);
  const bool duplicate = isTrue(*made, "duplicate");
  json::object row = outcomeOf(record, duplicate ? "duplicate" : shown(*made, "outcome"));
  for (const char* member : {"message", "ledgerSeq"})
    if (shown(*made, member) != "-") row[member] = made->at(member);
  return row;
}

std::string lineOf(const json::value& row) {
  std::string line = concat(shown(row, "number"), "  ", shown(row, "entity"), "  ", shown(row, "operationId"), "  ",
                            shown(row, "outcome"));
  if (row.as_object().contains("ledgerSeq")) line += ", entry " + shown(row, "ledgerSeq");
  if (row.as_object().contains("message")) line += ": " + shown(row, "message");
  return line + "\n";
}

Result<int> propose(const SuffixArguments& a) {
  return onSuffix(a, [&](const Suffixes& suffixes, const std::string& id) -> Result<int> {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    std::optional<ControlClient> client;
    if (!a.dryRun) WITAN_SET(client, ControlClient::open(dir));
    bool waits = false, refused = false;
    WITAN_DO(suffixes.each(id, [&](const SuffixRecord& record) -> Status {
      const json::value row = client ? askAgain(*client, record)
                                     : outcomeOf(record, record.why ? "left out" : "ask", record.why.value_or(""));
      const std::string outcome = shown(row, "outcome");
      waits = waits || outcome == "waiting";
      refused = refused || outcome == "refused" || outcome == "frozen";
      putWords(a.json ? canonicalJson(row) + "\n" : lineOf(row));
      return okStatus();
    }));
    return refused ? kExitSomeRefused : waits ? kExitWaiting : kExitOk;
  });
}

}  // namespace

void addSuffixCommand(Command& app) {
  Command* noun = app.noun("suffix", "What takeovers took out of this device's ledgers: list, export, propose again",
                           "witan suffix list");
  addVerb<SuffixArguments>(*noun, "list", "Divergent suffixes that are kept here", "witan suffix list", list);
  const auto [exporting, e] =
      addVerb<SuffixArguments>(*noun, "export", "Write the records of a suffix into a file, as JSON Lines",
                               "witan suffix export budget/0/1 lost.jsonl", exportAll);
  exporting->option("SUFFIX", e->suffix, "Its id, or how that begins")->required();
  exporting->option("FILE", e->file, "File for the records")->required();
  exporting->flag("--force", e->force, "Replace the file if there is one");
  const auto [proposing, p] = addVerb<SuffixArguments>(
      *noun, "propose",
      "Ask the present owner for the requests of a suffix again, in this device's name, under their operation ids",
      "witan suffix propose budget/0/1", propose);
  proposing->option("SUFFIX", p->suffix, "Its id, or how that begins")->required();
  proposing->flag("--dry-run", p->dryRun, "Say what would be asked for");
}

}  // namespace witan::node
