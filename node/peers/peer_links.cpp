#include "node/peers/peer_links.h"

#include <algorithm>

namespace witan::node {

PeerLink* PeerLinks::find(net::LinkId id) {
  const auto at = links_.find(id);
  return at == links_.end() ? nullptr : &at->second;
}

std::optional<PeerLink> PeerLinks::remove(net::LinkId id) {
  auto removed = links_.extract(id);
  if (removed.empty()) return std::nullopt;
  const auto chosen = chosen_.find(removed.mapped().device);
  if (chosen != chosen_.end() && chosen->second == id) chosen_.erase(chosen);
  return std::move(removed.mapped());
}

PeerLink* PeerLinks::of(std::string_view device) {
  const auto at = chosen_.find(device);
  return at == chosen_.end() ? nullptr : find(at->second);
}

const PeerLink* PeerLinks::of(std::string_view device) const {
  const auto at = chosen_.find(device);
  return at == chosen_.end() ? nullptr : &links_.at(at->second);
}

bool PeerLinks::mayBeRelayed(std::string_view device) const {
  return std::any_of(chosen_.begin(), chosen_.end(),
                     [&](const auto& one) { return one.first != device && links_.at(one.second).direct(); });
}

bool replacesLink(const net::LinkInfo& old, const net::LinkInfo& fresh, bool hasSmallerId) {
  if (old.via.empty() != fresh.via.empty()) return fresh.via.empty();
  return fresh.dialled == hasSmallerId || old.dialled != hasSmallerId;
}

}  // namespace witan::node
