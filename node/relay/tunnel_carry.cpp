// What a TunnelTable does for two others: checks, passes on, counts. It keeps no bytes: what it was given goes to the
// other link's queue at once, and no more than a window of each direction is there.
#include <algorithm>

#include "node/relay/tunnel_table.h"

namespace witan::node {

Status TunnelTable::onOpen(const Key& key, const std::string& target, std::int64_t nowMs, TunnelEffects& out) {
  WITAN_TRY(opening, onOpening(key.first, key.second, nowMs));
  auto [why, reason] = mayOpen(key.first, target);
  if (reason.empty() && opening == Opening::tooOften) why = TunnelWhy::tooMany, reason = "too many in too short a time";
  if (reason.empty() && offersTooOften(key.first, target, nowMs))
    why = TunnelWhy::tooMany, reason = "too many to that device in too short a time";
  if (!reason.empty()) {
    ++(why == TunnelWhy::noLink ? counters_.absent : counters_.refused);
    tellClose(key, why, reason, out);
    return okStatus();
  }
  const Key there{target, newNumber(target)};
  Leg& asker = legs_[key];
  asker.peer = there;
  asker.asker = true;
  legs_[there].peer = key;
  TunnelOffer message;
  message.tunnel = there.second;
  message.device = key.first;
  tell(target, message, out);
  return okStatus();
}

// Whoever asks may come again with new links, or be many. What one is refused uses up nothing of the others.
bool TunnelTable::offersTooOften(const std::string& asker, const std::string& target, std::int64_t nowMs) {
  LinkState& link = links_.at(target);
  if (nowMs - link.offersSince >= limits_.openWindowMs)
    link.offersSince = nowMs, link.offers = 0, link.offersOf.clear();
  std::size_t& ofAsker = link.offersOf[asker];
  if (ofAsker >= limits_.offersPerAsker || link.offers >= limits_.opens) return true;
  ++ofAsker, ++link.offers;
  return false;
}

// An empty reason: it may.
std::pair<TunnelWhy, std::string> TunnelTable::mayOpen(const std::string& asker, const std::string& target) const {
  if (!carries_) return {TunnelWhy::doesNotCarry, "this device carries for nobody ([relay] carry)"};
  if (target == asker || !links_.contains(target)) return {TunnelWhy::noLink, "no direct link with it"};
  std::size_t ofAsker = 0, ofTarget = 0, ofBoth = 0;
  for (const auto& [key, leg] : legs_) {
    ofAsker += key.first == asker ? 1 : 0;
    ofTarget += key.first == target ? 1 : 0;
    ofBoth += leg.asker && key.first == asker && leg.peer.first == target ? 1 : 0;
  }
  if (carrying() >= limits_.carried) return {TunnelWhy::tooMany, "this device carries as many as it may"};
  if (ofAsker >= limits_.perDevice) return {TunnelWhy::tooMany, "too many tunnels of this device"};
  if (ofTarget >= limits_.perDevice) return {TunnelWhy::tooMany, "too many tunnels to that device"};
  if (ofBoth >= limits_.perPair) return {TunnelWhy::tooMany, "too many tunnels of this device to that one"};
  return {TunnelWhy::closed, ""};
}

Status TunnelTable::passOpened(const Key& key, Leg& leg, TunnelEffects& out) {
  if (leg.asker || leg.stands) return invalid("a tunnel was opened by the wrong end, or twice");
  leg.stands = legs_.at(leg.peer).stands = true;
  ++counters_.carried;
  out.emplace_back(TunnelCarried{leg.peer.first, key.first, false, 0, ""});
  TunnelOpened message;
  message.tunnel = leg.peer.second;
  tell(leg.peer.first, message, out);
  return okStatus();
}

Status TunnelTable::passData(Leg& leg, const TunnelData& data, TunnelEffects& out) {
  if (!leg.stands) return invalid("data before the tunnel was opened");
  leg.underWay += data.bytes.size() + kTunnelChunkCost;
  if (leg.underWay > kTunnelWindow) return invalid("a tunnel's data goes beyond its credit");
  leg.bytes += data.bytes.size();
  counters_.bytes += data.bytes.size();
  TunnelData message = data;
  message.tunnel = leg.peer.second;
  tell(leg.peer.first, message, out);
  return okStatus();
}

// Credit for what the other leg's device has sent.
Status TunnelTable::passCredit(const Leg& leg, std::size_t bytes, TunnelEffects& out) {
  Leg& sender = legs_.at(leg.peer);
  if (bytes > sender.underWay) return invalid("more credit than was used");
  sender.underWay -= bytes;
  TunnelCredit message;
  message.tunnel = leg.peer.second;
  message.bytes = static_cast<std::uint32_t>(bytes);
  tell(leg.peer.first, message, out);
  return okStatus();
}

// Both legs; the devices are told by whoever calls.
void TunnelTable::endCarried(const Key& key, std::string_view reason, TunnelEffects& out) {
  const Leg leg = legs_.at(key);
  const Leg other = legs_.at(leg.peer);
  if (leg.stands) {
    const auto& [from, to] = leg.asker ? std::pair(key, leg.peer) : std::pair(leg.peer, key);
    out.emplace_back(TunnelCarried{from.first, to.first, true, leg.bytes + other.bytes, std::string(reason)});
  } else {
    ++counters_.refused;  // by the target, or given up
  }
  legs_.erase(leg.peer);
  legs_.erase(key);
}

}  // namespace witan::node
