#include "node/peers/pending_peers.h"

#include <algorithm>

namespace witan::node {

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

}  // namespace witan::node
