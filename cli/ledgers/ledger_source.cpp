#include "cli/ledgers/ledger_source.h"

#include <system_error>

#include "base/bytes.h"
#include "base/seams.h"
#include "base/time.h"
#include "cli/client/verb.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger_verify.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "program/durable_file.h"
#include "program/progress.h"
#include "store/wal_damage.h"

namespace witan::node {

using namespace kernel;

namespace {

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
    WITAN_TRY(key, verifierKey(how));
    options.checkpointKey = key;
    for (const std::string& file : how.checkpoints) {
      WITAN_TRY(head, readSignedHead(file, key));
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
    const json::value none(nullptr);
    if (report.ok() && how.requireSigned && report.signedEntries < report.entries)
      report.problem = "unsigned: a checkpoint covers " + std::to_string(report.signedEntries) + " of " +
                       std::to_string(report.entries) + " entries";
    return json::value{{"ok", report.ok()},
                       {"entries", report.entries},
                       {"root", toHex(report.root)},
                       {"checkpoints", report.checkpoints},
                       {"signaturesChecked", report.signaturesChecked},
                       {"signedEntries", report.signedEntries},
                       {"replayed", report.replayed},
                       {"badEntry", report.badEntry == 0 ? none : json::value(report.badEntry)},
                       {"problem", report.ok() ? none : json::value(report.problem)}};
  }

  Status follow(const std::function<bool(const LedgerLine&)>&) override {
    return unavailable("no node runs on a ledger of witan run", "see it with: witan ledger tail");
  }

 private:
  Result<NoteVerifier> verifierKey(const VerifyChoice& how) const {
    if (how.vkey.empty()) {
      WITAN_TRY(own, readVerifierKey(choice_.store));
      return parseVerifierKey(own);
    }
    WITAN_TRY(text, readSmallFile(how.vkey, maxKeyNameBytes * 2));
    if (!text) return Error{ErrorCode::notFound, "no file " + how.vkey, "--vkey takes a copy of ledger.vkey"};
    return parseVerifierKey(chomped(*text));
  }
  LedgerLine lineOf(const StoredEntry& e) const {
    return {"", e.seq, toHex(e.leaf), entryStory(e.entry), entryJson(e.entry, format_.invariants)};
  }

  const LedgerChoice choice_;
  const std::unique_ptr<store::Store> store_;
  const LedgerFormat format_;
};

LedgerLine lineOf(const json::value& row) {
  return {shown(row, "partition"), row.at("seq").to_number<std::uint64_t>(), shown(row, "leafHash"),
          shown(row, "story"), canonicalJson(row)};
}

class NodeLedgers final : public LedgerSource {
 public:
  // Either a client, or a directory at rest.
  NodeLedgers(LedgerChoice choice, std::optional<ControlClient> client, std::unique_ptr<NodeDir> node)
      : choice_(std::move(choice)), client_(std::move(client)), node_(std::move(node)) {}

  static Result<std::unique_ptr<LedgerSource>> open(const LedgerChoice& choice) {
    WITAN_TRY(dir, replicaDirPath(choice.dir));
    std::optional<ControlClient> client;
    std::unique_ptr<NodeDir> node;
    if (auto running = ControlClient::open(dir); running.ok()) {
      client = *std::move(running);
    } else {
      WITAN_SET(node, openAtRest(dir));
    }
    return std::unique_ptr<LedgerSource>(std::make_unique<NodeLedgers>(choice, std::move(client), std::move(node)));
  }

  Status newest(std::size_t most, const Visit& visit) override {
    if (most > 0) {
      WITAN_TRY(rows, node_ ? newestRows(node_->replica(), {choice_.domain, choice_.partition, choice_.entity}, most)
                            : fetch(concat("limit=", most, filters())));
      for (const json::value& row : rows) visit(lineOf(row));
      return okStatus();
    }
    WITAN_TRY(ids, partitions());
    LedgerPages pages(ids, [this](const std::string& id, std::uint64_t seq) { return after(id, seq, kPage); });
    for (;;) {
      WITAN_TRY(row, pages.next());
      if (!row) return okStatus();
      visit(lineOf(*row));
    }
  }

  Result<std::vector<LedgerLine>> numbered(std::uint64_t seq) override {
    WITAN_TRY(ids, partitions());
    std::vector<LedgerLine> lines;
    for (const std::string& id : ids) {
      WITAN_TRY(rows, after(id, seq - 1, 1));
      if (rows.empty()) continue;
      LedgerLine line = lineOf(rows[0]);
      if (line.seq == seq) lines.push_back(std::move(line));
    }
    return lines;
  }

  Result<json::value> verify(const VerifyChoice& how) override {
    if (how.requireSigned || !how.vkey.empty() || !how.checkpoints.empty())
      return Error{ErrorCode::invalidInput, "a node's ledgers have no signed checkpoints",
                   "--vkey, --checkpoint and --signed go with --store"};
    const bool replay = how.replay;
    Progress progress("verifying", "entries");
    if (client_) return client_->get(concat("/v1/ledger/verify?replay=", replay ? "true" : "false"));
    return verifyHosts(node_->replica(), replay, [&](std::uint64_t entries) { progress.count(entries); });
  }

  Status follow(const std::function<bool(const LedgerLine&)>& visit) override {
    WITAN_TRY(dir, replicaDirPath(choice_.dir));
    WITAN_TRY(client, ControlClient::open(dir));
    return client.events("/v1/ledger/stream?" + filters().substr(1), [&](std::string_view data) {
      const auto row = parseJson(data, kOwnJson);
      return !row.ok() || visit(lineOf(*row));
    });
  }

  Status close() override {
    const Time wall = SystemClock().now();
    return node_ ? node_->close({wall, wall.micros / 1000}) : okStatus();
  }

 private:
  static constexpr std::size_t kPage = 1'000;

  std::string filters() const {
    return "&entity=" + net::percentEncoded(choice_.entity) + "&domain=" + net::percentEncoded(choice_.domain) +
           "&partition=" + net::percentEncoded(choice_.partition);
  }
  Result<json::array> fetch(const std::string& query) {
    WITAN_TRY(answer, client_->get("/v1/ledger?" + query));
    return rowsOf(answer, "entries");
  }
  // The oldest entries of a partition after this number.
  Result<json::array> after(const std::string& partition, std::uint64_t seq, std::size_t most) {
    if (node_) return rowsAfter(node_->replica(), {choice_.domain, partition, choice_.entity}, seq, most);
    return fetch(concat("limit=", most, "&after=", seq, "&partition=", net::percentEncoded(partition),
                        "&entity=", net::percentEncoded(choice_.entity)));
  }
  Result<std::vector<std::string>> partitions() {
    std::vector<std::string> ids;
    if (node_) {
      for (const auto& [id, host] : node_->replica().hosts()) ids.push_back(id);
    } else {
      WITAN_TRY(answer, client_->get("/v1/partitions"));
      for (const json::value& row : rowsOf(answer, "partitions")) ids.push_back(shown(row, "partition"));
    }
    std::erase_if(ids, [this](const std::string& id) {
      return !(choice_.partition.empty() || id == choice_.partition) ||
             !(choice_.domain.empty() || id.starts_with(choice_.domain + "/"));
    });
    return ids;
  }

  const LedgerChoice choice_;
  const std::optional<ControlClient> client_;
  const std::unique_ptr<NodeDir> node_;
};

}  // namespace

Result<std::unique_ptr<LedgerSource>> LedgerSource::open(const LedgerChoice& choice) {
  return choice.store.empty() ? NodeLedgers::open(choice) : StoredLedger::open(choice);
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
