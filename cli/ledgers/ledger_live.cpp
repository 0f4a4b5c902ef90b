#include "cli/ledgers/ledger_live.h"

#include "base/seams.h"
#include "cli/ledgers/ledger_pages.h"
#include "node/ledgers/ledger_rows.h"
#include "program/option_checks.h"

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

constexpr std::size_t kPage = 1'000, kMostNewest = 10'000;

// Where entries come from: the running node, or else the directory, which is open meanwhile.
class Source {
 public:
  static Result<Source> open(const LiveLedger& a) {
    WITAN_TRY(dir, replicaDirPath(a.dir));
    if (auto client = ControlClient::open(dir); client.ok()) return Source(a, *std::move(client), nullptr);
    WITAN_TRY(node, openAtRest(dir));
    return Source(a, std::nullopt, std::move(node));
  }

  Result<json::array> newest(std::size_t most) {
    if (node_) return newestRows(node_->replica(), {a_->domain, a_->partition, a_->entity}, most);
    return fetch("limit=" + std::to_string(most) + filters(*a_));
  }
  Result<json::array> after(const std::string& partition, std::uint64_t seq, std::size_t most) {
    if (node_) return rowsAfter(node_->replica(), {a_->domain, partition, a_->entity}, seq, most);
    return fetch("limit=" + std::to_string(most) + "&after=" + std::to_string(seq) +
                 "&partition=" + net::percentEncoded(partition) + "&entity=" + net::percentEncoded(a_->entity));
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
      return !(a_->partition.empty() || id == a_->partition) ||
             !(a_->domain.empty() || id.starts_with(a_->domain + "/"));
    });
    return ids;
  }
  Status close() {
    const Time wall = SystemClock().now();
    return node_ ? node_->close({wall, wall.micros / 1000}) : okStatus();
  }

 private:
  Source(const LiveLedger& a, std::optional<ControlClient> client, std::unique_ptr<NodeDir> node)
      : a_(&a), client_(std::move(client)), node_(std::move(node)) {}
  Result<json::array> fetch(const std::string& query) {
    WITAN_TRY(answer, client_->get("/v1/ledger?" + query));
    return rowsOf(answer, "entries");
  }

  const LiveLedger* a_;
  std::optional<ControlClient> client_;
  std::unique_ptr<NodeDir> node_;
};

Status showAll(Source& source, bool asJson) {
  WITAN_TRY(partitions, source.partitions());
  LedgerPages pages(partitions, [&](const std::string& partition, std::uint64_t after) {
    return source.after(partition, after, kPage);
  });
  for (;;) {
    WITAN_TRY(row, pages.next());
    if (!row) return okStatus();
    putEntry(*row, asJson);
  }
}

Result<int> showSome(const LiveLedger& a) {
  if (a.count > kMostNewest)
    return reportUsage(
        invalid("-n " + std::to_string(a.count) + ": the newest " + std::to_string(kMostNewest) + " at most",
                "0 for all"),
        a.json);
  WITAN_TRY(source, Source::open(a));
  if (a.count == 0) {
    WITAN_DO(showAll(source, a.json));
  } else {
    WITAN_TRY(rows, source.newest(a.count));
    for (const json::value& row : rows) putEntry(row, a.json);
  }
  WITAN_DO(source.close());
  return kExitOk;
}

Result<int> showOne(const LiveLedger& a) {
  WITAN_TRY(source, Source::open(a));
  WITAN_TRY(partitions, source.partitions());
  const std::string seq = std::to_string(a.seq);
  json::array found;
  for (const std::string& partition : partitions) {
    if (a.seq == 0) break;
    WITAN_TRY(rows, source.after(partition, a.seq - 1, 1));
    if (!rows.empty() && shown(rows[0], "seq") == seq) found.push_back(rows[0]);
  }
  WITAN_DO(source.close());
  if (found.empty())
    return Error{ErrorCode::notFound, "no entry " + seq + (a.partition.empty() ? "" : " in " + a.partition),
                 "see: witan ledger tail"};
  if (found.size() > 1) {
    std::string several;
    for (const json::value& row : found) several += (several.empty() ? "" : ", ") + shown(row, "partition");
    return Error{ErrorCode::conflict, "several ledgers have an entry " + seq + ": " + several,
                 "choose one with --partition"};
  }
  putEntry(found[0], a.json);
  if (!a.json) putOut("         leaf hash " + shown(found[0], "leafHash") + "\n");
  return kExitOk;
}

}  // namespace

int liveShow(const LiveLedger& a) {
  const auto done = showOne(a);
  return done.ok() ? *done : reportError(done.error(), a.json);
}

int liveTail(const LiveLedger& a) {
  const auto shownSome = showSome(a);
  if (!shownSome.ok()) return reportError(shownSome.error(), a.json);
  if (!a.follow) return *shownSome;
  return onLiveNode(LiveArguments{a.dir, a.json}, [&](const ControlClient& client) -> Result<int> {
    std::fflush(stdout);
    WITAN_DO(client.events("/v1/ledger/stream?" + filters(a).substr(1), [&](std::string_view data) {
      if (auto row = parseJson(data, kOwnJson); row.ok()) putEntry(*row, a.json);
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
