#include "node/market/market_revoked.h"

#include <algorithm>

namespace witan::node {

namespace {

// A pass of a week, and clocks that are far off.
constexpr std::int64_t kListedSeconds = 30 * kDaySeconds;

}  // namespace

std::optional<std::string> withRevoked(const json::value& before, const std::string& org,
                                       const std::vector<market::Hex>& keys, const SigningKey& root,
                                       market::Moment now) {
  RevokedDevices list;
  if (auto opened = market::openEnvelope<RevokedDevices>(before); opened.ok()) list = std::move(opened->document);
  bool added = false;
  for (const market::Hex& key : keys) {
    if (std::ranges::count(list.devices, key, &RevokedDevice::key) > 0) continue;
    list.devices.push_back({key, {now.seconds + kListedSeconds}});
    added = true;
  }
  if (!added) return std::nullopt;
  std::erase_if(list.devices, [&](const RevokedDevice& each) { return each.until <= now; });
  std::ranges::stable_sort(list.devices, std::greater{}, &RevokedDevice::until);
  if (list.devices.size() > kMostRevoked) list.devices.resize(kMostRevoked);
  list.org = org;
  // Also beyond what a root said that was brought back from a backup since.
  list.serial = std::max(list.serial + 1, market::Natural(std::max<std::int64_t>(0, now.seconds)));
  return market::sealedDocument(list, {&root, 1});
}

const RevokedBook::Known* RevokedBook::take(const json::value& envelope, const market::Roots& roots) {
  const auto list = market::openEnvelope<RevokedDevices>(envelope);
  if (!list.ok()) return nullptr;
  const auto root = roots.find(list->document.org);
  if (root == roots.end()) return nullptr;
  const auto before = known_.find(root->second);
  if (before != known_.end() && list->document.serial <= before->second.serial) return nullptr;
  if (!market::isSignedBy(list->text, root->second)) return nullptr;
  Known known{list->document.org,
              toJson(market::signedOnlyBy(list->text, {&root->second, 1}).envelope),
              list->document.serial,
              {}};
  for (const RevokedDevice& each : list->document.devices) known.keys.push_back(market::keyOf(each.key));
  return &(known_[root->second] = std::move(known));
}

bool RevokedBook::has(const PublicKey& root, const PublicKey& device) const {
  const auto known = known_.find(root);
  return known != known_.end() && std::ranges::count(known->second.keys, device) > 0;
}

}  // namespace witan::node
