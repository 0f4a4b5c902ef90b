#include "node/peers/roster_gossip.h"

#include "base/bytes.h"
#include "node/cluster/messages.h"
#include "node/cluster/revocation.h"

namespace witan::node {

namespace {

RosterMessage messageOf(const RosterDate& date, Time now) {
  return {.dated = date.at, .datedVersion = date.version, .dateSignature = date.signature, .sent = now};
}

}  // namespace

std::string RosterGossip::frame(Time now) const {
  RosterMessage message = messageOf(rosters_.date(), now);
  message.document.assign(rosters_.document().begin(), rosters_.document().end());
  return clusterFrame(message);
}

std::string RosterGossip::partedFrame() const {
  const std::string document = rosters_.partedDocument();
  if (document.empty()) return "";
  RosterMessage message;
  message.document.assign(document.begin(), document.end());
  return clusterFrame(message);
}

std::string RosterGossip::farewell(std::string_view device) const {
  return clusterFrame(RosterMessage{.revocation = revocationOf(rosters_.current(), device)});
}

std::string RosterGossip::dateFrame(Time now) const { return clusterFrame(messageOf(rosters_.date(), now)); }

Result<RosterGossip::Heard> RosterGossip::receive(std::string_view frame, Time now) {
  RosterMessage message;
  WITAN_DO(readClusterFrame(frame, message));
  Heard heard;
  heard.sent = message.sent;
  if (!message.document.empty()) {
    const auto taken = rosters_.adopt(asView(message.document));
    // As partedFrame() has it: not by this one does its sender judge.
    const bool parted = message.sent.micros == 0 && message.dated.micros == 0 && rosters_.parted() != nullptr;
    if (!taken.ok() && !parted) return taken.error();
    heard.roster = taken.ok() && *taken;
  }
  if (!message.revocation.empty()) {
    WITAN_SET(heard.roster, rosters_.adoptRevocation(message.revocation, device_));
    return heard;
  }
  const auto taken = rosters_.adopt({message.dated, message.datedVersion, message.dateSignature}, now);
  if (taken.ok()) heard.date = *taken;
  // A roster that was taken must be applied, whatever came with it.
  if (!taken.ok() && taken.error().code == ErrorCode::unauthorised && !heard.roster) return taken.error();
  if (!taken.ok()) heard.oddDate = taken.error().message;  // a clock is wrong, which is no reason to part
  return heard;
}

std::string RosterGossip::whyLinksEnd(std::string_view device) const {
  const RosterDevice* now = rosters_.current().find(device);
  if (now == nullptr) return "the roster does not name this device";
  if (!now->active()) return "this device was revoked";
  const RosterDevice& old = before(device);
  return now->keys != old.keys || now->roles != old.roles || now->scopes != old.scopes ? "its rights have changed" : "";
}

bool RosterGossip::dialsEnd(const RosterDevice& device) const {
  const RosterDevice& old = before(device.device);
  return !device.active() || device.addresses != old.addresses || device.keys != old.keys;
}

bool RosterGossip::startSaving() {
  if (rosters_.kept().ok() || saving_) return false;
  return saving_ = true;
}

bool RosterGossip::retrySaving() {
  if (!rosters_.kept().ok() && !rosters_.keep().ok()) return false;
  saving_ = false;
  return true;
}

const RosterDevice& RosterGossip::before(std::string_view device) const {
  static const RosterDevice none;
  const auto at = applied_.find(device);
  return at == applied_.end() ? none : at->second;
}

}  // namespace witan::node
