#include "node/ledger_live.h"

#include "base/seams.h"
#include "node/ledger_rows.h"
#include "node/verify_hosts.h"

namespace witan::node {

namespace {

void putEntry(const json::value& row, bool asJson) {
  asJson ? putOut(canonicalJson(row) + "\n") : putWords(shown(row, "partition") + " " + shown(row, "story") + "\n");
}

std::string filters(const LiveLedger& a) {
  return "&entity=" + net::percentEncoded(a.entity) + "&domain=" + net::percentEncoded(a.domain) +
         "&partition=" + net::percentEncoded(a.partition);
}

std::string verdict(const json::value& answer) {
  std::string text;
  for (const json::value& ledger : rowsOf(answer, "ledgers"))
    if (shown(ledger, "problem") != "-")
      text += "bad " + shown(ledger, "partition") + ": " + shown(ledger, "problem") + "\n";
  return text.empty() ? "ok " + shown(answer, "entries") + " " + shown(answer, "root") + "\n" : text;
}

int told(const json::value& answer, bool json) {
  (void)print(answer, json, verdict);
  return isTrue(answer, "ok") ? kExitOk : kExitFailed;
}

}  // namespace

Result<json::value> verifyLedgersAtRest(const std::filesystem::path& dir, bool replay) {
  WITAN_TRY(node, openAtRest(dir));
  WITAN_TRY(report, verifyHosts(node->replica(), replay));
  const Time wall = SystemClock().now();
  WITAN_DO(node->close({wall, wall.micros / 1000}));
  return report;
}

namespace {

constexpr std::size_t kAll = 10'000;

// Of the running node, or else of the directory.
Result<json::array> rowsFrom(const LiveLedger& a, std::size_t most) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  if (auto client = ControlClient::open(dir); client.ok()) {
    WITAN_TRY(answer, client->get("/v1/ledger?limit=" + std::to_string(most) + filters(a)));
    return rowsOf(answer, "entries");
  }
  WITAN_TRY(node, openAtRest(dir));
  WITAN_TRY(rows, newestRows(node->replica(), {a.domain, a.partition, a.entity}, most));
  const Time wall = SystemClock().now();
  WITAN_DO(node->close({wall, wall.micros / 1000}));
  return rows;
}

Result<int> showOne(const LiveLedger& a) {
  WITAN_TRY(rows, rowsFrom(a, kAll));
  const std::string seq = std::to_string(a.seq);
  std::vector<const json::value*> found;
  for (const json::value& row : rows)
    if (shown(row, "seq") == seq) found.push_back(&row);
  if (found.empty())
    return Error{ErrorCode::notFound, "no entry " + seq + (a.partition.empty() ? "" : " in " + a.partition),
                 "see: witan ledger tail"};
  if (found.size() > 1) {
    std::string partitions;
    for (const json::value* row : found) partitions += (partitions.empty() ? "" : ", ") + shown(*row, "partition");
    return Error{ErrorCode::conflict, "several ledgers have an entry " + seq + ": " + partitions,
                 "choose one with --partition"};
  }
  putEntry(*found[0], a.json);
  if (!a.json) putOut("         leaf hash " + shown(*found[0], "leafHash") + "\n");
  return kExitOk;
}

}  // namespace

int liveShow(const LiveLedger& a) {
  const auto done = showOne(a);
  return done.ok() ? *done : reportError(done.error(), a.json);
}

int liveTail(const LiveLedger& a) {
  if (!a.follow) {
    const auto rows = rowsFrom(a, a.count == 0 ? kAll : a.count);
    if (!rows.ok()) return reportError(rows.error(), a.json);
    for (const json::value& row : *rows) putEntry(row, a.json);
    return kExitOk;
  }
  return onLiveNode(LiveArguments{a.dir, a.json}, [&](const ControlClient& client) -> Result<int> {
    WITAN_TRY(answer, client.get("/v1/ledger?limit=" + std::to_string(a.count == 0 ? kAll : a.count) + filters(a)));
    for (const json::value& row : rowsOf(answer, "entries")) putEntry(row, a.json);
    std::fflush(stdout);
    WITAN_DO(client.events("/v1/ledger/stream?" + filters(a).substr(1), [&](std::string_view data) {
      if (auto row = parseJson(data, {.bytes = 64 << 20, .depth = 64}); row.ok()) putEntry(*row, a.json);
      return std::fflush(stdout) == 0;
    }));
    return kExitOk;
  });
}

int liveVerify(const LiveLedger& a) {
  const auto done = [&]() -> Result<int> {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    auto client = ControlClient::open(dir);
    if (!client.ok()) {
      WITAN_TRY(report, verifyLedgersAtRest(dir, a.replay));
      return told(report, a.json);
    }
    WITAN_TRY(answer, client->get(std::string("/v1/ledger/verify?replay=") + (a.replay ? "true" : "false")));
    return told(answer, a.json);
  }();
  return done.ok() ? *done : reportError(done.error(), a.json);
}

}  // namespace witan::node
