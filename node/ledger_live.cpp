#include "node/ledger_live.h"

#include "base/seams.h"
#include "domains/registry.h"
#include "node/cluster/device_key.h"
#include "node/node_dir.h"
#include "node/verify_hosts.h"

namespace witan::node {

namespace {

void putEntry(const json::value& row, bool asJson) {
  asJson ? putOut(canonicalJson(row) + "\n") : putWords(shown(row, "partition") + " " + shown(row, "story") + "\n");
}

std::string filters(const LiveLedger& a) {
  return "&entity=" + net::percentEncoded(a.entity) + "&domain=" + net::percentEncoded(a.domain);
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
  WITAN_TRY(cluster, readClusterFile(dir));
  NodeSetup setup;
  for (const std::string_view name : domains::domainNames()) setup.domains.emplace_back(name);
  setup.partitions = static_cast<std::uint32_t>(cluster.partitions);
  const Time wall = SystemClock().now();
  WITAN_TRY(node, NodeDir::open(dir, std::move(setup), {wall, wall.micros / 1000}));
  WITAN_TRY(report, verifyHosts(node->replica(), replay));
  WITAN_DO(node->close({wall, wall.micros / 1000}));
  return report;
}

int liveTail(const LiveLedger& a) {
  return onLiveNode(LiveArguments{a.dir, a.json}, [&](const ControlClient& client) -> Result<int> {
    WITAN_TRY(answer, client.get("/v1/ledger?limit=" + std::to_string(a.count == 0 ? 10'000 : a.count) + filters(a)));
    for (const json::value& row : rowsOf(answer, "entries")) putEntry(row, a.json);
    if (!a.follow) return kExitOk;
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
