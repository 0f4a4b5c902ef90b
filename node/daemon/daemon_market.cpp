// Daemon: its part in the market.
#include "node/daemon/daemon.h"
#include "node/market/market_host.h"

namespace witan::node {

namespace {

std::vector<MarketPartner> partnersOf(const DaemonConfig& config) {
  std::vector<MarketPartner> partners;
  for (const std::string& text : config.marketPartners) {
    const std::size_t at = text.rfind('=');
    partners.push_back({text.substr(0, at), text.substr(at + 1)});
  }
  return partners;
}

}  // namespace

Status Daemon::openMarket() {
  if (config_.marketOrg.empty()) return okStatus();
  MarketNode node{loop_,
                  log_,
                  replica(),
                  dir_->ledgers(),
                  path_,
                  config_.tools,
                  [this](Request request, std::int64_t waitMs, Done done) {
                    return ask(std::move(request), waitMs, std::move(done));
                  },
                  [this] { return now(); },
                  [this] { return tick(); },
                  [this] { scheduleTick(); },
                  [this] { return policyEpoch(); },
                  [this] {
                    const RosterDevice* me = rosters_.current().member(device_);
                    return me != nullptr && me->keys.back() == toHex(key_.publicKey());
                  }};
  MarketSetup setup{{config_.marketOrg, rosters_.current().cluster, device_, key_.publicKey(), rosters_.admin()},
                    config_.marketListen,
                    partnersOf(config_),
                    {config_.marketEscrows.begin(), config_.marketEscrows.end()}};
  auto opened = MarketHost::open(std::move(node), std::move(setup), key_);
  if (!opened.ok()) return config_.located("[market] org", opened.error());
  market_ = *std::move(opened);
  follow([this](PartitionHost& host, const StoredEntry& entry) { market_->onEntry(host, entry); });
  const Status started = market_->start();
  return started.ok() ? started : config_.located("[market] listen", started.error());
}

}  // namespace witan::node
