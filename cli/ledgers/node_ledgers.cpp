#include "cli/ledgers/node_ledgers.h"

#include "base/bytes.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "cli/client/verb.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_reader.h"
#include "node/ledgers/ledger_rows.h"
#include "program/progress.h"
#include "replica/core/log_head.h"

namespace witan::node {

namespace {

constexpr std::size_t kPage = 1'000;

// An event `parted` of the stream: the log lost what it had from an entry on, to a takeover.
LedgerLine partedLine(const json::value& row) {
  const auto from = row.at("from").to_number<std::uint64_t>();
  return {shown(row, "partition"), from, "",
          concat("a takeover parted this ledger: what is shown above of it from entry ", from,
                 " on is not in it; the entries that have these numbers now follow"),
          canonicalJson(row)};
}

LedgerLine lineOf(const json::value& row) {
  if (row.get_object().contains("from")) return partedLine(row);
  return {shown(row, "partition"), row.at("seq").to_number<std::uint64_t>(), shown(row, "leafHash"),
          shown(row, "story"), canonicalJson(row)};
}

template <class T>
Result<T> answerOf(const ControlClient& client, const std::string& path) {
  WITAN_TRY(answer, client.get(path));
  T value;
  WITAN_DO(readJson(answer, value, "the node's answer"));
  return value;
}

}  // namespace

Result<std::unique_ptr<NodeLedgers>> NodeLedgers::open(const LedgerChoice& choice) {
  WITAN_TRY(dir, replicaDirPath(choice.dir));
  std::optional<ControlClient> client;
  std::unique_ptr<NodeDir> node;
  if (auto running = ControlClient::open(dir); running.ok()) {
    client = *std::move(running);
  } else {
    WITAN_SET(node, openAtRest(dir));
  }
  return std::unique_ptr<NodeLedgers>(new NodeLedgers(choice, std::move(client), std::move(node)));
}

Status NodeLedgers::newest(std::size_t most, const Visit& visit) {
  if (most > 0) {
    WITAN_TRY(rows, node_ ? newestRows(node_->replica(), {choice_.domain, choice_.partition, choice_.entity}, most)
                          : fetch(concat("limit=", most, filters())));
    for (const json::value& row : rows) visit(lineOf(row));
    return okStatus();
  }
  WITAN_TRY(all, partitions());
  std::vector<std::string> ids;
  for (const auto& [id, gone] : all) {
    ids.push_back(id);
    if (gone > 0) putErr(concat("witan: entries 1 to ", gone, " of ", id, " were pruned on this device\n"));
  }
  LedgerPages pages(
      ids, [&](const std::string& id, std::uint64_t seq) { return after(id, std::max(seq, all.at(id)), kPage); });
  for (;;) {
    WITAN_TRY(row, pages.next());
    if (!row) return okStatus();
    visit(lineOf(*row));
  }
}

// Of a partition that other devices keep, or an entry that was pruned here: the node asks one that has it, and checks
// what it tells.
Result<LedgerLine> NodeLedgers::asked(std::uint64_t seq) {
  WITAN_TRY(proven, proof(choice_.partition, seq, 0, 0));
  WITAN_TRY(bytes, fromBase64(proven.bytes));
  WITAN_TRY(entry, kernel::readEntryView(bytes));
  const json::value row{{"partition", proven.partition}, {"seq", seq},
                        {"leafHash", proven.leafHash},   {"story", entryStory(entry)},
                        {"bytes", proven.bytes},         {"holder", proven.holder.value_or("")}};
  return lineOf(row);
}

Result<std::vector<LedgerLine>> NodeLedgers::numbered(std::uint64_t seq) {
  WITAN_TRY(all, partitions());
  if (client_ && all.empty() && !choice_.partition.empty()) {
    // A copy that is damaged is here, and says so.
    if (const auto here = after(choice_.partition, seq - 1, 1); !here.ok() && here.error().code != ErrorCode::notFound)
      return here.error();
    WITAN_TRY(line, asked(seq));
    return std::vector{std::move(line)};
  }
  std::vector<LedgerLine> lines;
  for (const auto& [id, gone] : all) {
    if (seq <= gone && client_ && id == choice_.partition) {
      WITAN_TRY(line, asked(seq));
      return std::vector{std::move(line)};
    }
    if (seq <= gone && id != choice_.partition) continue;
    WITAN_TRY(rows, after(id, seq - 1, 1));
    if (rows.empty()) continue;
    LedgerLine line = lineOf(rows[0]);
    if (line.seq == seq) lines.push_back(std::move(line));
  }
  if (!lines.empty()) return lines;
  for (const auto& [id, gone] : all)
    if (seq <= gone)
      return Error{ErrorCode::notFound, concat("entries 1 to ", gone, " of ", id, " were pruned on this device"),
                   concat("a device that keeps them is asked with --partition ", id)};
  return lines;
}

Result<json::value> NodeLedgers::verify(const VerifyChoice& how) {
  for (const std::string& file : how.checkpoints) WITAN_DO(checkKept(file, how));
  Progress progress("verifying", "entries");
  auto read = client_ ? client_->get(concat("/v1/ledger/verify?replay=", how.replay ? "true" : "false"))
                      : verifyHosts(node_->replica(), node_->ledgers(), how.replay,
                                    [&](std::uint64_t entries) { progress.count(entries); });
  if (!read.ok() || !how.requireSigned) return read;
  const char* const covered = how.require > 1 ? "cosignedEntries" : "signedEntries";
  for (json::value& ledger : read->at("ledgers").as_array()) {
    json::object& row = ledger.as_object();
    if (!row.at("problem").is_null() || row.at(covered) == row.at("entries")) continue;
    row["problem"] = concat("unsigned: a ", how.require > 1 ? "cosigned " : "", "head covers ", shown(row, covered),
                            " of ", shown(row, "entries"), " entries");
    read->as_object()["ok"] = false;
  }
  return read;
}

// The copy here begins with the log of the head in the file.
Status NodeLedgers::checkKept(const std::string& file, const VerifyChoice& how) {
  WITAN_TRY(keys, readVerifierKeys(how.vkeys));
  if (keys.empty())
    return Error{ErrorCode::invalidInput, "--checkpoint needs the keys that sign it",
                 "--vkey FILE takes a copy of a device's device.vkey"};
  WITAN_TRY(head, readSignedHead(file, keys, how.require));
  const std::string& origin = head.checkpoint.origin;  // witan/{cluster}/{partition}/{epoch}/{owner}
  const std::size_t slash = origin.find('/', origin.find('/') + 1);
  const auto log = slash == std::string::npos ? std::nullopt : logOfOrigin(origin.substr(6, slash - 6), origin);
  if (!log) return invalid(file + ": the head of no ledger of a cluster");
  if (head.checkpoint.size == 0) return okStatus();
  WITAN_TRY(known, proof(log->partition, 1, head.checkpoint.size, 0));
  if (known.root == toHex(head.checkpoint.root)) return okStatus();
  return corrupt(
      concat(log->partition, ": the first ", head.checkpoint.size, " entries have another root than ", head.where),
      "entries were altered, or set aside by a seizure: compare with other devices; witan incident list");
}

Status NodeLedgers::follow(const std::function<bool(const LedgerLine&)>& visit) {
  WITAN_TRY(dir, replicaDirPath(choice_.dir));
  WITAN_TRY(client, ControlClient::open(dir));
  return client.events("/v1/ledger/stream?" + filters().substr(1), [&](std::string_view data) {
    const auto row = parseJson(data, kOwnJson);
    return !row.ok() || visit(lineOf(*row));
  });
}

Status NodeLedgers::close() {
  const Time wall = SystemClock().now();
  return node_ ? node_->close({wall, wall.micros / 1000}) : okStatus();
}

Result<std::string> NodeLedgers::partition() {
  if (!choice_.partition.empty()) return choice_.partition;
  WITAN_TRY(all, partitions());
  if (all.empty())
    return notFound("this device keeps no ledgers", "ask one with the role ledger (witan device roster)");
  std::vector<std::string> filled;
  for (const auto& [id, gone] : all) {
    WITAN_TRY(rows, after(id, gone, 1));
    if (!rows.empty()) filled.push_back(id);
  }
  if (filled.size() == 1) return filled.front();
  return invalid(filled.empty() ? "no ledger here has an entry" : "several ledgers have entries: " + joined(filled),
                 "choose one with --partition");
}

Result<LedgerHead> NodeLedgers::head(const std::string& partition, bool signedOnly) {
  if (node_) return headOf(node_->replica(), partition, signedOnly);
  return answerOf<LedgerHead>(*client_, concat("/v1/ledger/checkpoint?partition=", net::percentEncoded(partition),
                                               "&signedOnly=", signedOnly ? "true" : "false"));
}

Result<InclusionProof> NodeLedgers::proof(const std::string& partition, std::uint64_t seq, std::uint64_t size,
                                          std::uint64_t since) {
  if (node_) return proveEntry(node_->replica(), partition, seq, size, since);
  WITAN_TRY(answer, client_->get(concat("/v1/ledger/proof?partition=", net::percentEncoded(partition), "&seq=", seq,
                                        "&size=", size, "&since=", since)));
  for (const char* member : {"statement", "verifier"}) answer.as_object().erase(member);
  InclusionProof proof;
  WITAN_DO(readJson(answer, proof, "the node's answer"));
  return proof;
}

Status NodeLedgers::exported(const std::string& partition, std::uint64_t from, std::uint64_t to,
                             const std::function<void(const json::value& row)>& visit) {
  for (std::uint64_t last = from - 1;;) {
    WITAN_TRY(rows, after(partition, last, kPage, true));
    if (rows.empty()) return okStatus();
    for (const json::value& row : rows) {
      last = row.at("seq").to_number<std::uint64_t>();
      if (to != 0 && last > to) return okStatus();
      visit(row);
    }
  }
}

std::string NodeLedgers::filters() const {
  return "&entity=" + net::percentEncoded(choice_.entity) + "&domain=" + net::percentEncoded(choice_.domain) +
         "&partition=" + net::percentEncoded(choice_.partition);
}

Result<json::array> NodeLedgers::fetch(const std::string& query) {
  WITAN_TRY(answer, client_->get("/v1/ledger?" + query));
  return rowsOf(answer, "entries");
}

// The oldest entries of a partition after this number.
Result<json::array> NodeLedgers::after(const std::string& partition, std::uint64_t seq, std::size_t most, bool bytes) {
  if (node_) return rowsAfter(node_->replica(), {choice_.domain, partition, choice_.entity}, seq, most, bytes);
  return fetch(concat("limit=", most, "&after=", seq, "&partition=", net::percentEncoded(partition),
                      "&entity=", net::percentEncoded(choice_.entity), "&bytes=", bytes ? "true" : "false"));
}

Result<std::map<std::string, std::uint64_t>> NodeLedgers::partitions() {
  std::map<std::string, std::uint64_t> all;
  if (node_) {
    for (const auto& [id, host] : node_->replica().hosts()) all[id] = host->firstEntry() - 1;
  } else {
    WITAN_TRY(answer, client_->get("/v1/partitions"));
    for (const json::value& row : rowsOf(answer, "partitions")) {
      if (!row.get_object().contains("entries")) continue;  // it is elsewhere
      const json::value* first = row.get_object().if_contains("firstEntry");
      all[shown(row, "partition")] = first == nullptr ? 0 : first->to_number<std::uint64_t>() - 1;
    }
  }
  std::erase_if(all, [this](const auto& one) {
    return !(choice_.partition.empty() || one.first == choice_.partition) ||
           !(choice_.domain.empty() || one.first.starts_with(choice_.domain + "/"));
  });
  return all;
}

}  // namespace witan::node
