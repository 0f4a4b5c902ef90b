#include "replica/ownership/ownership_engine.h"

#include "base/mutant.h"

namespace witan::node {

bool OwnershipEngine::owns(const PartitionHost& host) const {
  const kernel::Epoch mine = host.epoch();
  if (mutated("decideUnowned")) return mine.number > 0;
  if (mine.number == 0 || mine.owner != state_.ownerName) return false;
  if (!mutated("serveOn") && !host.successor().empty()) return false;
  if (!state_.partitions.usable(host.id()) || state_.partitions.stopped(host.id())) return false;
  if (!serves(host.id())) return false;
  const OwnershipRecord* claim = state_.owners.find(host.id());
  // The fence: a later epoch that this device has heard of ends its own, whether or not it has seen the log.
  return claim == nullptr || claim->epoch() <= mine || mutated("ignoreEpoch");
}

Status OwnershipEngine::operatorsDoNotDecide() {
  return Error{ErrorCode::conflict, "etcd gives partitions their owners", "see who holds them there"};
}

OwnerState OwnershipEngine::ownerState(std::string_view partition) const {
  const OwnershipRecord* claim = state_.owners.find(partition);
  if (claim == nullptr) return OwnerState::unknown;
  const PartitionHost* mine = state_.partitions.find(partition);
  if (mine != nullptr && owns(*mine)) return OwnerState::here;
  if (state_.refusesOwner(partition)) return OwnerState::lost;
  const std::string owner = state_.ownerDevice(partition);
  if (owner == state_.device()) {
    // A handover is under way, or the log that it decided on is not here any more.
    const bool handsOver = claim->owner == state_.ownerName && !state_.partitions.stopped(partition) &&
                           !state_.partitions.damaged().contains(partition);
    return !ownerHoldsLog() || handsOver ? OwnerState::reachable : OwnerState::lost;
  }
  const Peer* const peer = state_.member(owner);
  if (peer == nullptr) return OwnerState::away;
  if (!ownerHoldsLog() || peer->owner.empty()) return OwnerState::reachable;
  if (peer->owner != claim->owner) return OwnerState::lost;  // it has begun anew, under another name
  const FollowerProgress& copy = peer->follower(partition);
  const bool knowsItOwnsNothing = copy.follows() && copy.epoch() == claim->epoch();
  return knowsItOwnsNothing || copy.hasNothing() ? OwnerState::lost : OwnerState::reachable;
}

}  // namespace witan::node
