#include "replica/copy_release.h"

#include <algorithm>

#include "base/concat.h"
#include "base/mutant.h"

namespace witan::node {

namespace {
constexpr std::int64_t kReleaseLookMs = 5'000;
constexpr std::int64_t kOwnedLookMs = 60'000;  // at one that has to stay, since it is the owner's
constexpr std::uint64_t kNearBatches = 64;     // what may be under way to a keeper that follows
}  // namespace

bool isOwners(const ReplicaState& state, const OwnershipEngine& ownership, const PartitionHost& host) {
  const std::string owner = state.ownerDevice(host.id());
  return ownership.owns(host) || owner.empty() || owner == state.device() || host.epoch().owner == state.ownerName ||
         host.successor() == state.ownerName || state.isSuccessor(host.id());
}

bool CopyRelease::isSurplus(const PartitionHost& host) const {
  const std::string& id = host.id();
  if (!state_.placement.partial(id) || state_.isKeeper(id) || !state_.partitions.usable(id)) return false;
  return !isOwners(state_, *ownership_, host) && !state_.partitions.stopped(id) &&
         state_.partitions.refused(id) == nullptr;
}

CopyRelease::Seen CopyRelease::see(const PartitionHost& host) const {
  Seen seen;
  for (const std::string& keeper : state_.placement.keepers(host.id())) {
    Peer* const peer = state_.member(keeper);
    const PeerPartition link = peer == nullptr ? PeerPartition() : peer->partitions[host.id()];
    const bool whole = link.first == 0 || !state_.placement.keepsWhole(keeper, host.id());
    const bool keeps = link.keeps >= state_.placement.version() && whole && !link.follower.diverged();
    seen.near = seen.near && keeps && link.follower.batches() + kNearBatches >= host.ledger().batches();
    seen.all = seen.all && keeps && link.shares >= host.ledger().batches();
  }
  if (mutated("releaseEarly")) seen = {};
  return seen;
}

void CopyRelease::ask(PartitionHost& host) const {
  for (const std::string& keeper : state_.placement.keepers(host.id()))
    if (Peer* const peer = state_.member(keeper)) exchange_.askForAll(*peer, host);
}

Status CopyRelease::round(Now now) {
  if (now.ms < nextMs_) return okStatus();
  nextMs_ = std::numeric_limits<std::int64_t>::max();
  std::string given;
  for (const auto& [id, host] : state_.partitions.hosts()) {
    const bool surplus = isSurplus(*host);
    const Seen seen = surplus ? see(*host) : Seen{false, false};
    if (seen.near ? state_.leaving.insert(id).second : state_.leaving.erase(id) > 0) state_.followDirty = true;
    if (!state_.isKeeper(id)) nextMs_ = std::min(nextMs_, now.ms + (surplus ? kReleaseLookMs : kOwnedLookMs));
    if (!surplus) continue;
    const bool still = host->durableBatches() == host->ledger().batches() && host->showsLog();
    if (!seen.near || !still) continue;
    if (!seen.all)
      ask(*host);
    else if (given.empty())
      given = id;
  }
  if (given.empty()) return okStatus();
  const std::uint64_t batches = state_.partitions.find(given)->ledger().batches();
  WITAN_DO(state_.partitions.release(given, state_.stores.ledgers));
  state_.leaving.erase(given);
  state_.seals.forget(given);
  exchange_.onReleased(given);
  ++state_.counters.copiesReleased;
  state_.notice("released", given, concat("others keep all ", batches, " batches"));
  nextMs_ = now.ms;
  return okStatus();
}

bool CopyRelease::quiet() const {
  return std::ranges::none_of(state_.partitions.hosts(), [&](const auto& one) { return isSurplus(*one.second); });
}

}  // namespace witan::node
