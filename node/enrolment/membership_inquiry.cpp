#include "node/enrolment/membership_inquiry.h"

#include <algorithm>

#include "base/bytes.h"
#include "node/cluster/messages.h"
#include "node/cluster/roster_follows.h"

namespace witan::node {

namespace {

constexpr std::size_t kAskedAtOnce = 4;

}  // namespace

Status MembershipInquiry::ask(const SigningKey& key, bool expecting, std::vector<std::uint8_t> proof) {
  proof_ = std::move(proof);
  const std::string self = deviceIdOf(key.publicKey());
  WITAN_TRY(identity, net::tlsIdentityOf(key, self));
  network_ = std::make_unique<net::PeerNetwork>(loop_, identity, net::PeerNetworkOptions{}, events());
  const std::vector<RosterDevice>& devices = rosters_.current().devices;
  const RosterDevice* me = rosters_.current().byKey(key.publicKey());
  if (me == nullptr) me = hadKey(rosters_.current(), key.publicKey());
  device_ = me == nullptr ? self : me->device;
  expecting_ = expecting;
  name_ = me == nullptr || !expecting ? "" : me->name;
  std::size_t asked = 0;
  for (std::size_t n = 0; n < devices.size() && asked < kAskedAtOnce; ++n) {
    const RosterDevice& device = devices[next_++ % devices.size()];
    const auto its = publicKeyFromHex(device.keys.back(), "key");
    if (&device == me || !device.active() || device.addresses.empty() || !its.ok()) continue;
    ++asked;
    for (const std::string& address : device.addresses)
      network_->dial(device.device + "/" + address, address, expecting ? std::optional(*its) : std::nullopt,
                     std::string(net::kJoinPurpose));
  }
  return okStatus();
}

net::PeerEvents MembershipInquiry::events() {
  net::PeerEvents events;
  static const std::vector<std::uint8_t> noProof;  // for who may have any key
  events.up = [this](const net::LinkInfo& info) {
    network_->undial(info.name);
    network_->trust(info.id);
    (void)network_->send(info.id, clusterFrame(JoinRequest{.name = name_, .proof = expecting_ ? proof_ : noProof}));
  };
  events.frame = [this](net::LinkId link, std::string_view frame) { receive(link, frame); };
  return events;
}

void MembershipInquiry::receive(net::LinkId link, std::string_view frame) {
  JoinAnswer answer;
  const bool read = readClusterFrame(frame, answer).ok();
  const auto taken = take(read ? answer : JoinAnswer());
  const bool newer = taken.ok() && *taken;
  if (read && expecting_ && !newer && refused_ && answer.reason.starts_with(kKeyReplaced)) refused_(answer.reason);
  if (read && expecting_ && !newer && answer.verdict != JoinVerdict::admitted) {
    RosterMessage offer;
    offer.document.assign(rosters_.document().begin(), rosters_.document().end());
    (void)network_->send(link, clusterFrame(offer));
  }
  network_->close(link, "that was all");
  if (newer) changed_();
}

Result<bool> MembershipInquiry::take(const JoinAnswer& answer) {
  if (!answer.revocation.empty()) return rosters_.adoptRevocation(answer.revocation, device_);
  if (answer.document.empty()) return false;
  return rosters_.adopt(asView(answer.document));  // members of an earlier version hand it out to a revoked device
}

}  // namespace witan::node
