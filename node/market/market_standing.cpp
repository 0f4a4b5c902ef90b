// MarketHost: what gives this device and its partners their say: roots, passes, and lists of devices that have lost it.
#include "domains/escrow/escrow.h"
#include "node/market/market_host.h"
#include "node/market/market_passes.h"
#include "replica/core/partition_host.h"

namespace witan::node {

using market::Contract;

namespace {

constexpr std::string_view kRevokedRows = "m/r/", kHeldDomain = "escrow";
constexpr std::int64_t kRenewSeconds = 2;   // between two looks at the pass
constexpr std::int64_t kTellSeconds = 600;  // a list that was lost on its way comes again

}  // namespace

// As the file says now: trust and its end count at once.
market::Roots MarketHost::roots() {
  const auto texts = readMarketRoots(node_.dir);
  if (!texts.ok()) {
    node_.log.error("market", texts.error().message);
    return roots_;
  }
  RootTexts all = *texts;
  all[identity_.org] = toHex(identity_.root);  // its own bundles are verified before they leave
  return marketRootsOf(all);
}

// What gave this device and its partners their say may end at any time: its place in the roster, their roots and
// passes. Its own pass is short, and made anew.
void MarketHost::keepStanding() {
  if (!node_.isMember()) {
    broken_ = true;
    node_.log.error("market", "nothing more is done: this device is not in the roster, or has another key there");
    return node_.loop.post([self = self_] {  // not inside of a link's own event
      if (*self != nullptr) (*self)->door_->close();
    });
  }
  if (market::Roots now = roots(); now != roots_) {
    roots_ = std::move(now);
    buyer_->trust(roots_), seller_->trust(roots_), holder_->trust(roots_);
  }
  if (now() >= renewAt_) renewPass();
  if (now() >= tellAt_) {
    tellAt_ = {now().seconds + kTellSeconds};
    for (const auto& [root, list] : revoked_.byRoot()) tellRevoked(list);
  }
  door_->keepTo(roots_);
}

// What the root has said among the cluster's records: of this device, and of those that are revoked.
void MarketHost::renewPass() {
  renewAt_ = {now().seconds + kRenewSeconds};
  if (const Status taken = takeRenewedPass(node_.replica.data(), node_.dir, setup_.origin, now()); !taken.ok())
    node_.log.warn("market", taken.error().message);
  const auto pass = renewedPass(node_.dir, setup_.origin, identity_.pass, now());
  if (!pass.ok()) node_.log.warn("market", pass.error().message);
  if (pass.ok() && *pass != identity_.pass) door_->show(identity_.pass = *pass);
  if (const std::string list = revokedIn(node_.replica.data(), identity_.root); !list.empty())
    takeRevoked(market::valueOf(list));
}

// ---- revoked devices

Status MarketHost::restoreRevoked() {
  return node_.store.scan(kRevokedRows, {}, [&](std::string_view key, std::string_view value) {
    const auto root = hashFromHex(key.substr(kRevokedRows.size()));
    const json::value list = market::valueOf(std::string(value));
    const auto opened = market::openEnvelope<RevokedKeys>(list);
    if (root.ok() && opened.ok()) revoked_.take(list, {{opened->document.org, *root}}, {});
    return true;
  });
}

// From the cluster's records or from a partner: its root's signature counts, and that it is a later one.
void MarketHost::takeRevoked(const json::value& list) {
  const RevokedBook::Known* known = revoked_.take(list, roots_, now());
  if (known == nullptr) return;
  node_.log.info("market", "devices are revoked", {{"org", known->org}, {"keys", concat(known->keys.size())}});
  store::WriteBatch batch;
  batch.put(concat(kRevokedRows, toHex(roots_.at(known->org))), known->envelope);
  if (!holds(node_.store.write(batch)) || !holds(node_.store.sync())) return;
  door_->keepTo(roots_);
  tellRevoked(*known);
}

// A key that is lost may have grants for months.
bool MarketHost::isOfRevoked(const market::Letter& letter) const {
  const json::value* envelope = letter.body.if_contains("contract");
  if (envelope == nullptr || revoked_.byRoot().empty()) return false;
  const auto contract = market::openEnvelope<Contract>(*envelope);
  const auto isRevoked = [&](const auto& party) {
    const auto root = roots_.find(party.org);
    return root != roots_.end() && revoked_.has(root->second, market::keyOf(party.key));
  };
  return contract.ok() && (isRevoked(contract->document.buyer) || isRevoked(contract->document.seller));
}

void MarketHost::postRevoked(const std::string& to, const RevokedBook::Known& list) {
  if (to == list.org || to == identity_.org) return;
  post({identity_.org,
        to,
        concat("revoked/", list.serial),
        std::string(kRevokedLetter),
        {{"list", market::valueOf(list.envelope)}}});
}

// Its own list goes to each partner; those of others to whom a contract ties to them, since it may reach them in no
// other way.
void MarketHost::tellRevoked(const RevokedBook::Known& list) {
  const std::set<std::string> tied = tiedTo(list.org);
  for (const auto& [org, root] : roots_)
    if (list.org == identity_.org || tied.contains(org)) postRevoked(org, list);
}

void MarketHost::tellRevokedTo(const std::string& org) {
  if (revoked_.byRoot().empty()) return;
  const std::set<std::string> tied = tiedTo(org);
  for (const auto& [root, list] : revoked_.byRoot())
    if (list.org == identity_.org || tied.contains(list.org)) postRevoked(org, list);
}

// The other parties of its contracts that are known here.
std::set<std::string> MarketHost::tiedTo(const std::string& org) const {
  std::set<std::string> tied;
  const auto add = [&](const std::set<std::string>& parties) {
    if (parties.contains(org)) tied.insert(parties.begin(), parties.end());
  };
  const auto addContract = [&](const Contract& c) { add({c.buyer.org, c.seller.org, c.escrow}); };
  for (const std::string& digest : buyer_->contracts()) addContract(*buyer_->contract(digest));
  for (const std::string& digest : seller_->contracts()) addContract(*seller_->contract(digest));
  for (const auto& [id, host] : node_.replica.hosts()) {
    if (host->module().signature().domain != kHeldDomain) continue;
    for (const std::string& entity : host->partition().entities()) {
      const auto escrow = domains::escrow::standingOf(*host->partition().state(entity), "-");
      add({escrow.buyer, escrow.seller, identity_.org});
    }
  }
  return tied;
}

}  // namespace witan::node
