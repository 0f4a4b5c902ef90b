#include "node/peers/admission.h"

#include <algorithm>

namespace witan::node {

namespace {

Error refusal(std::string why) { return {ErrorCode::unauthorised, std::move(why), ""}; }

}  // namespace

std::string Admission::whyBlocked(std::string_view device) const {
  const auto at = blocked_.find(device);
  return at == blocked_.end() ? "" : at->second;
}

Status Admission::notBlocked(std::string_view device) const {
  const std::string why = whyBlocked(device);
  return why.empty() ? okStatus() : Status(refusal(why));
}

Status Admission::admit(const net::LinkInfo& info) const {
  if (info.purpose == net::kJoinPurpose) {
    if (!info.via.empty()) return refusal("only members have links through others");
    return info.dialled ? Status(refusal("this device is a member already")) : okStatus();
  }
  if (info.purpose != net::kMemberPurpose) return refusal("unknown purpose " + info.purpose);
  const RosterDevice* device = rosters_.current().byKey(info.key);
  if (device == nullptr) return refusal("no member of the cluster " + rosters_.current().cluster + " has this key");
  if (!device->active())
    return refusal("this device was revoked" + (device->reason.empty() ? "" : ": " + device->reason));
  if (device->device == self_) return refusal("this is the device itself");
  return notBlocked(device->device);
}

Result<const RosterDevice*> Admission::confirm(const PublicKey& key) const {
  const RosterDevice* device = rosters_.current().byKey(key);
  if (device == nullptr || !device->active()) return refusal("no member any more");
  WITAN_DO(notBlocked(device->device));
  return device;
}

Status Admission::mayLink(std::string_view device) const {
  if (rosters_.current().member(device) == nullptr) return refusal("no member of the cluster");
  return notBlocked(device);
}

bool Admission::mayDial(const RosterDevice& device) const {
  return device.active() && device.device != self_ && whyBlocked(device.device).empty();
}

std::optional<net::LinkId> PendingPeers::add(net::LinkId link, std::int64_t nowMs) {
  std::optional<net::LinkId> oldest;
  if (pending_.size() >= kMaxPendingPeers)
    oldest = std::min_element(pending_.begin(), pending_.end(), [](const auto& one, const auto& other) {
               return one.second.sinceMs < other.second.sinceMs;
             })->first;
  pending_[link] = {nowMs, 0};
  return oldest;
}

bool PendingPeers::countRequest(net::LinkId link) {
  const auto at = pending_.find(link);
  return at != pending_.end() && ++at->second.requests <= kMaxJoinRequests;
}

bool PendingPeers::takesOffer(const std::string& host, bool ofMember, std::int64_t nowMs) {
  std::map<std::string, std::int64_t>& offers = offers_[ofMember ? 1 : 0];
  std::erase_if(offers, [&](const auto& one) { return one.second + kOfferMs <= nowMs; });
  return offers.size() < kMaxOffers && offers.emplace(host, nowMs).second;
}

}  // namespace witan::node
