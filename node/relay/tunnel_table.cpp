#include "node/relay/tunnel_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::node {

namespace {

constexpr std::size_t kMaxReason = 256;

// Fit for a log, whoever wrote it.
std::string plain(std::string_view reason) {
  const bool fine = isUtf8(reason) && std::ranges::none_of(reason, [](char c) {
                      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                    });
  return fine ? std::string(clip(reason, kMaxReason)) : inQuotes(reason, kMaxReason);
}

}  // namespace

TunnelTable::TunnelTable(std::string self, bool carries, TunnelLimits limits)
    : self_(std::move(self)), carries_(carries), limits_(limits) {}

// --- links and numbers

void TunnelTable::linked(const std::string& device) {
  LinkState& link = links_[device];
  const bool oursAreOdd = self_ < device;
  link = {};
  link.oddIsTheirs = oursAreOdd ? 0 : 1;
  link.lastOurs = oursAreOdd ? 1 : 0;  // the first is 3, or 2
  link.lastTheirs = oursAreOdd ? 0 : 1;
}

void TunnelTable::unlinked(const std::string& device, std::string_view why, TunnelEffects& out) {
  if (links_.erase(device) == 0) return;
  std::vector<TunnelId> ours;
  for (const auto& [id, end] : ends_)
    if (end.key.first == device) ours.push_back(id);
  for (const TunnelId id : ours) gone(id, TunnelWhy::linkEnded, concat("the link with it has ended: ", why), out);
  for (auto at = legs_.lower_bound({device, 0}); at != legs_.end() && at->first.first == device;
       at = legs_.lower_bound({device, 0})) {
    const Key key = at->first, peer = at->second.peer;
    const std::string reason = concat("the link of the relay with ", device, " has ended: ", why);
    tellClose(peer, TunnelWhy::linkEnded, reason, out);
    endCarried(key, reason, out);
  }
}

std::uint64_t TunnelTable::newNumber(const std::string& device) { return links_.at(device).lastOurs += 2; }

bool TunnelTable::wasGiven(const std::string& device, std::uint64_t number) const {
  const LinkState& link = links_.at(device);
  const bool theirs = number % 2 == link.oddIsTheirs;
  return number >= 2 && number <= (theirs ? link.lastTheirs : link.lastOurs);
}

Status TunnelTable::notHere(const Key& key) const {
  if (wasGiven(key.first, key.second)) return okStatus();
  return invalid(concat("tunnel ", key.second, " was never opened"));
}

// Errors: a number that is not theirs to give, or far too many.
Result<TunnelTable::Opening> TunnelTable::onOpening(const std::string& device, std::uint64_t number,
                                                    std::int64_t nowMs) {
  LinkState& link = links_.at(device);
  if (number % 2 != link.oddIsTheirs || number <= link.lastTheirs)
    return invalid(concat("tunnel ", number, " is no new number of the other end"));
  link.lastTheirs = number;
  if (nowMs - link.windowStart >= limits_.openWindowMs) link.windowStart = nowMs, link.opens = 0;
  if (++link.opens > limits_.floods)
    return invalid(concat("more than ", limits_.floods, " tunnels were opened in ", limits_.openWindowMs, " ms"));
  return link.opens > limits_.opens ? Opening::tooOften : Opening::allowed;
}

void TunnelTable::tellClose(const Key& key, TunnelWhy why, std::string_view reason, TunnelEffects& out) {
  tell(key.first, TunnelClose{key.second, why, std::string(clip(reason, kMaxReason))}, out);
}

// --- frames

Status TunnelTable::received(const std::string& device, std::string_view frame, std::int64_t nowMs,
                             TunnelEffects& out) {
  if (!links_.contains(device)) return invalid("tunnels are for direct links only");
  const auto read = [&](auto message, auto&& handle) -> Status {
    WITAN_DO(readClusterFrame(frame, message));
    return handle(Key{device, message.tunnel}, message);
  };
  switch (static_cast<TunnelFrame>(frame[4])) {
    case TunnelFrame::open:
      return read(TunnelOpen{}, [&](const Key& key, auto& m) { return onOpen(key, m.device, nowMs, out); });
    case TunnelFrame::offer:
      return read(TunnelOffer{}, [&](const Key& key, auto& m) { return onOffer(key, m.device, nowMs, out); });
    case TunnelFrame::opened: return read(TunnelOpened{}, [&](const Key& key, auto&) { return onOpened(key, out); });
    case TunnelFrame::data: return read(TunnelData{}, [&](const Key& key, auto& m) { return onData(key, m, out); });
    case TunnelFrame::credit:
      return read(TunnelCredit{}, [&](const Key& key, auto& m) { return onCredit(key, m.bytes, out); });
    case TunnelFrame::close: return read(TunnelClose{}, [&](const Key& key, auto& m) { return onClose(key, m, out); });
  }
  return invalid("no frame of a tunnel");
}

Status TunnelTable::onOffer(const Key& key, const std::string& other, std::int64_t nowMs, TunnelEffects& out) {
  WITAN_TRY(opening, onOpening(key.first, key.second, nowMs));
  const bool many = ends_.size() >= limits_.ends || opening == Opening::tooOften;
  if (many || other == self_ || other == key.first) {
    tellClose(key, many ? TunnelWhy::tooMany : TunnelWhy::notWanted,
              many ? "too many tunnels to this device" : "a tunnel to nobody else", out);
    return okStatus();
  }
  const TunnelId id = ++last_;
  End& end = ends_[id];
  end.key = key;
  end.other = other;
  endOf_[key] = id;
  out.emplace_back(TunnelOffered{id, key.first, other});
  return okStatus();
}

Status TunnelTable::onOpened(const Key& key, TunnelEffects& out) {
  if (const auto leg = legs_.find(key); leg != legs_.end()) return passOpened(key, leg->second, out);
  const auto at = endOf_.find(key);
  if (at == endOf_.end()) return notHere(key);
  End& end = ends_.at(at->second);
  if (!end.asked || end.stands) return invalid("a tunnel was opened twice");
  end.stands = true;
  out.emplace_back(TunnelStands{at->second, key.first, end.other});
  return okStatus();
}

Status TunnelTable::onData(const Key& key, const TunnelData& data, TunnelEffects& out) {
  if (data.bytes.empty() || data.bytes.size() > kTunnelChunk)
    return invalid(concat("a tunnel's data has ", data.bytes.size(), " bytes: it must be 1 to ", kTunnelChunk));
  if (const auto leg = legs_.find(key); leg != legs_.end()) return passData(leg->second, data, out);
  const auto at = endOf_.find(key);
  if (at == endOf_.end()) return notHere(key);
  End& end = ends_.at(at->second);
  if (!end.stands) return invalid("data before the tunnel was opened");
  end.held += data.bytes.size() + kTunnelChunkCost;
  if (end.held > kTunnelWindow) return invalid("a tunnel's data goes beyond its credit");
  out.emplace_back(TunnelArrived{at->second, std::string(data.bytes.begin(), data.bytes.end())});
  return okStatus();
}

Status TunnelTable::onCredit(const Key& key, std::size_t bytes, TunnelEffects& out) {
  if (bytes < kTunnelLeastCredit) return invalid("a tunnel's credit comes in crumbs");
  if (const auto leg = legs_.find(key); leg != legs_.end()) return passCredit(leg->second, bytes, out);
  const auto at = endOf_.find(key);
  if (at == endOf_.end()) return notHere(key);
  End& end = ends_.at(at->second);
  if (bytes > kTunnelWindow - end.credit) return invalid("more credit than was used");
  end.credit += bytes;
  out.emplace_back(TunnelRoom{at->second});
  return okStatus();
}

Status TunnelTable::onClose(const Key& key, const TunnelClose& message, TunnelEffects& out) {
  const std::string reason = plain(message.reason);
  if (const auto leg = legs_.find(key); leg != legs_.end()) {
    tellClose(leg->second.peer, message.why, reason, out);
    endCarried(key, reason, out);
    return okStatus();
  }
  const auto at = endOf_.find(key);
  if (at == endOf_.end()) return notHere(key);
  gone(at->second, message.why, reason, out);
  return okStatus();
}

// --- tunnels that end here

TunnelId TunnelTable::ask(const std::string& relay, const std::string& other, TunnelEffects& out) {
  if (!links_.contains(relay) || ends_.size() >= limits_.ends) return 0;
  const TunnelId id = ++last_;
  End& end = ends_[id];
  end.key = {relay, newNumber(relay)};
  end.other = other;
  end.asked = true;
  endOf_[end.key] = id;
  tell(relay, TunnelOpen{end.key.second, other}, out);
  return id;
}

void TunnelTable::accept(TunnelId id, TunnelEffects& out) {
  const auto at = ends_.find(id);
  if (at == ends_.end() || at->second.asked || std::exchange(at->second.stands, true)) return;
  tell(at->second.key.first, TunnelOpened{at->second.key.second}, out);
}

void TunnelTable::close(TunnelId id, TunnelWhy why, std::string_view reason, TunnelEffects& out) {
  const auto at = ends_.find(id);
  if (at == ends_.end()) return;
  tellClose(at->second.key, why, reason, out);
  gone(id, why, reason, out);
}

void TunnelTable::gone(TunnelId id, TunnelWhy why, std::string_view reason, TunnelEffects& out) {
  const auto at = ends_.find(id);
  const End& end = at->second;
  out.emplace_back(TunnelGone{id, end.key.first, end.other, end.asked, why, std::string(reason)});
  endOf_.erase(end.key);
  ends_.erase(at);
}

std::size_t TunnelTable::room(TunnelId id) const {
  const auto at = ends_.find(id);
  if (at == ends_.end() || !at->second.stands || at->second.credit <= kTunnelChunkCost) return 0;
  return std::min(kTunnelChunk, at->second.credit - kTunnelChunkCost);
}

void TunnelTable::send(TunnelId id, std::string_view bytes, TunnelEffects& out) {
  WITAN_CHECK(!bytes.empty() && bytes.size() <= room(id), "a tunnel takes what there is room for");
  End& end = ends_.at(id);
  end.credit -= bytes.size() + kTunnelChunkCost;
  tell(end.key.first, TunnelData{end.key.second, {bytes.begin(), bytes.end()}}, out);
}

void TunnelTable::taken(TunnelId id, std::size_t bytes, TunnelEffects& out) {
  const auto at = ends_.find(id);
  if (at == ends_.end()) return;
  End& end = at->second;
  end.untold += bytes + kTunnelChunkCost;
  WITAN_CHECK(end.untold <= end.held, "nothing is taken that did not come");
  if (end.untold < kTunnelWindow / 4) return;
  tell(end.key.first, TunnelCredit{end.key.second, static_cast<std::uint32_t>(end.untold)}, out);
  end.held -= std::exchange(end.untold, 0);
}

// --- tunnels of others: they are checked, passed on and counted. No bytes are kept: they go to the other link's queue
// at once, and at most a window of each direction is there.

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
  tell(target, TunnelOffer{there.second, key.first}, out);
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
  tell(leg.peer.first, TunnelOpened{leg.peer.second}, out);
  return okStatus();
}

Status TunnelTable::passData(Leg& leg, const TunnelData& data, TunnelEffects& out) {
  if (!leg.stands) return invalid("data before the tunnel was opened");
  leg.underWay += data.bytes.size() + kTunnelChunkCost;
  if (leg.underWay > kTunnelWindow) return invalid("a tunnel's data goes beyond its credit");
  leg.bytes += data.bytes.size();
  counters_.bytes += data.bytes.size();
  tell(leg.peer.first, TunnelData{leg.peer.second, data.bytes}, out);
  return okStatus();
}

// Credit for what the other leg's device has sent.
Status TunnelTable::passCredit(const Leg& leg, std::size_t bytes, TunnelEffects& out) {
  Leg& sender = legs_.at(leg.peer);
  if (bytes > sender.underWay) return invalid("more credit than was used");
  sender.underWay -= bytes;
  tell(leg.peer.first, TunnelCredit{leg.peer.second, static_cast<std::uint32_t>(bytes)}, out);
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
