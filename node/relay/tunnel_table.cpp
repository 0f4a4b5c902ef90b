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
  const bool fine = isUtf8(reason) && std::none_of(reason.begin(), reason.end(), [](char c) {
                      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                    });
  return fine ? std::string(clip(reason, kMaxReason)) : inQuotes(reason, kMaxReason);
}

Error neverGiven(std::uint64_t number) { return invalid("tunnel " + std::to_string(number) + " was never opened"); }

template <class T, class Do>
Status reading(std::string_view frame, Do then) {
  T message;
  WITAN_DO(readTunnelFrame(frame, message));
  return then(message);
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
  for (const TunnelId id : ours) gone(id, TunnelWhy::linkEnded, "the link with it has ended: " + std::string(why), out);
  for (auto at = legs_.lower_bound({device, 0}); at != legs_.end() && at->first.first == device;
       at = legs_.lower_bound({device, 0})) {
    const Key key = at->first, peer = at->second.peer;
    const std::string reason = "the link of the relay with " + device + " has ended: " + std::string(why);
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

// Errors: a number that is not theirs to give, or far too many.
Result<TunnelTable::Opening> TunnelTable::onOpening(const std::string& device, std::uint64_t number,
                                                    std::int64_t nowMs) {
  LinkState& link = links_.at(device);
  if (number % 2 != link.oddIsTheirs || number <= link.lastTheirs)
    return invalid("tunnel " + std::to_string(number) + " is no new number of the other end");
  link.lastTheirs = number;
  if (nowMs - link.windowStart >= limits_.openWindowMs) link.windowStart = nowMs, link.opens = 0;
  if (++link.opens > limits_.floods)
    return invalid("more than " + std::to_string(limits_.floods) + " tunnels were opened in " +
                   std::to_string(limits_.openWindowMs) + " ms");
  return link.opens > limits_.opens ? Opening::tooOften : Opening::allowed;
}

void TunnelTable::tellClose(const Key& key, TunnelWhy why, std::string_view reason, TunnelEffects& out) {
  TunnelClose message;
  message.tunnel = key.second;
  message.why = why;
  message.reason = clip(reason, kMaxReason);
  tell(key.first, message, out);
}

// --- frames

Status TunnelTable::received(const std::string& device, std::string_view frame, std::int64_t nowMs,
                             TunnelEffects& out) {
  if (!links_.contains(device)) return invalid("tunnels are for direct links only");
  switch (static_cast<TunnelFrame>(frame[4])) {
    case TunnelFrame::open:
      return reading<TunnelOpen>(frame, [&](const TunnelOpen& m) {
        return onOpen({device, m.tunnel}, m.device, nowMs, out);
      });
    case TunnelFrame::offer:
      return reading<TunnelOffer>(frame, [&](const TunnelOffer& m) {
        return onOffer({device, m.tunnel}, m.device, nowMs, out);
      });
    case TunnelFrame::opened:
      return reading<TunnelOpened>(frame, [&](const TunnelOpened& m) { return onOpened({device, m.tunnel}, out); });
    case TunnelFrame::data:
      return reading<TunnelData>(frame, [&](const TunnelData& m) { return onData({device, m.tunnel}, m, out); });
    case TunnelFrame::credit:
      return reading<TunnelCredit>(frame, [&](const TunnelCredit& m) {
        return onCredit({device, m.tunnel}, m.bytes, out);
      });
    case TunnelFrame::close:
      return reading<TunnelClose>(frame, [&](const TunnelClose& m) { return onClose({device, m.tunnel}, m, out); });
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
  if (at == endOf_.end()) return wasGiven(key.first, key.second) ? okStatus() : Status(neverGiven(key.second));
  End& end = ends_.at(at->second);
  if (!end.asked || end.stands) return invalid("a tunnel was opened twice");
  end.stands = true;
  out.emplace_back(TunnelStands{at->second, key.first, end.other});
  return okStatus();
}

Status TunnelTable::onData(const Key& key, const TunnelData& data, TunnelEffects& out) {
  if (data.bytes.empty() || data.bytes.size() > kTunnelChunk)
    return invalid("a tunnel's data has " + std::to_string(data.bytes.size()) + " bytes: it must be 1 to " +
                   std::to_string(kTunnelChunk));
  if (const auto leg = legs_.find(key); leg != legs_.end()) return passData(leg->second, data, out);
  const auto at = endOf_.find(key);
  if (at == endOf_.end()) return wasGiven(key.first, key.second) ? okStatus() : Status(neverGiven(key.second));
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
  if (at == endOf_.end()) return wasGiven(key.first, key.second) ? okStatus() : Status(neverGiven(key.second));
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
  if (at == endOf_.end()) return wasGiven(key.first, key.second) ? okStatus() : Status(neverGiven(key.second));
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
  TunnelOpen message;
  message.tunnel = end.key.second;
  message.device = other;
  tell(relay, message, out);
  return id;
}

void TunnelTable::accept(TunnelId id, TunnelEffects& out) {
  const auto at = ends_.find(id);
  if (at == ends_.end() || at->second.asked || std::exchange(at->second.stands, true)) return;
  TunnelOpened message;
  message.tunnel = at->second.key.second;
  tell(at->second.key.first, message, out);
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
  TunnelData message;
  message.tunnel = end.key.second;
  message.bytes.assign(bytes.begin(), bytes.end());
  tell(end.key.first, message, out);
}

void TunnelTable::taken(TunnelId id, std::size_t bytes, TunnelEffects& out) {
  const auto at = ends_.find(id);
  if (at == ends_.end()) return;
  End& end = at->second;
  end.untold += bytes + kTunnelChunkCost;
  WITAN_CHECK(end.untold <= end.held, "nothing is taken that did not come");
  if (end.untold < kTunnelWindow / 4) return;
  TunnelCredit message;
  message.tunnel = end.key.second;
  message.bytes = static_cast<std::uint32_t>(end.untold);
  end.held -= std::exchange(end.untold, 0);
  tell(end.key.first, message, out);
}

}  // namespace witan::node
