#include "node/ledgers/verify_hosts.h"

#include "base/bytes.h"
#include "base/sha256.h"
#include "kernel/ledger/ledger_verify.h"

namespace witan::node {

Result<json::value> verifyHosts(const Replica& replica, bool replay) {
  json::array list;
  std::uint64_t entries = 0;
  bool good = true;
  std::string roots;
  for (const auto& [id, host] : replica.hosts()) {
    WITAN_TRY(report, kernel::verifyLedger(host->rows(), {replay ? &host->module() : nullptr, std::nullopt}));
    entries += report.entries;
    good = good && report.ok();
    roots += id + " " + std::to_string(report.entries) + " " + toHex(report.root) + "\n";
    if (report.entries == 0 && report.ok()) continue;
    list.push_back({{"partition", id},
                    {"entries", report.entries},
                    {"root", toHex(report.root)},
                    {"problem", report.ok() ? json::value(nullptr) : json::value(report.problem)}});
  }
  return json::value{{"ok", good}, {"entries", entries}, {"root", toHex(sha256(roots))}, {"ledgers", std::move(list)}};
}

}  // namespace witan::node
