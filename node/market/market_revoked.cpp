#include "node/market/market_revoked.h"

#include <algorithm>

namespace witan::node {

namespace {

// Longer than a pass and a grant last, for clocks that are far off.
constexpr std::int64_t kDeviceSeconds = 30 * kDaySeconds, kSigningSeconds = 400 * kDaySeconds;

}  // namespace

std::optional<std::string> withRevoked(const json::value& before, const std::vector<MarketEnrolment>& devices,
                                       const SigningKey& root, market::Moment now) {
  RevokedKeys list;
  if (auto opened = market::openEnvelope<RevokedKeys>(before); opened.ok()) list = std::move(opened->document);
  bool added = false;
  const auto add = [&](const market::Hex& key, std::int64_t seconds) {
    if (key.empty() || std::ranges::count(list.keys, key, &RevokedKey::key) > 0) return;
    list.keys.push_back({key, {now.seconds + seconds}});
    added = true;
  };
  for (const MarketEnrolment& each : devices) {
    list.org = each.org;
    add(each.key, kDeviceSeconds);
    for (const market::Hex& key : {each.contract, each.evidence, each.card}) add(key, kSigningSeconds);
  }
  if (!added) return std::nullopt;
  std::erase_if(list.keys, [&](const RevokedKey& each) { return each.until <= now; });
  std::ranges::stable_sort(list.keys, {}, [&](const RevokedKey& each) {
    return std::pair(each.until.seconds > now.seconds + kDeviceSeconds, -each.until.seconds);
  });
  if (list.keys.size() > kMostRevoked) list.keys.resize(kMostRevoked);
  // Also beyond what a root said that was brought back from a backup since.
  list.serial = std::max(list.serial + 1, market::Natural(std::max<std::int64_t>(0, now.seconds)));
  return market::sealedDocument(list, {&root, 1});
}

const RevokedBook::Known* RevokedBook::take(const json::value& envelope, const market::Roots& roots,
                                            market::Moment now) {
  const auto list = market::openEnvelope<RevokedKeys>(envelope);
  if (!list.ok()) return nullptr;
  const auto root = roots.find(list->document.org);
  if (root == roots.end()) return nullptr;
  const auto before = known_.find(root->second);
  Known known{list->document.org, {}, list->document.serial, {}, now, 0};
  if (before != known_.end()) {
    if (known.serial <= before->second.serial) return nullptr;
    const std::int64_t passed = now.seconds - before->second.since.seconds;
    if (passed >= 0 && passed < 60) known.since = before->second.since, known.taken = before->second.taken;
  }
  if (++known.taken > kListsAMinute || !market::isSignedBy(list->text, root->second)) return nullptr;
  known.envelope = toJson(market::signedOnlyBy(list->text, {&root->second, 1}).envelope);
  for (const RevokedKey& each : list->document.keys) known.keys.push_back(market::keyOf(each.key));
  return &(known_[root->second] = std::move(known));
}

bool RevokedBook::has(const PublicKey& root, const PublicKey& device) const {
  const auto known = known_.find(root);
  return known != known_.end() && std::ranges::count(known->second.keys, device) > 0;
}

}  // namespace witan::node
