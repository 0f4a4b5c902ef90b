#include "replica/ownership/embedded_ownership.h"

#include <algorithm>

#include "base/concat.h"
#include "base/mutant.h"
#include "base/string_util.h"
#include "replica/core/log_head.h"
#include "replication/writer.h"

namespace witan::node {

namespace {
// The owner has what is copied. A sync costs this device more than the decisions of its round.
constexpr std::int64_t kBusySyncMs = 50;
}  // namespace

void EmbeddedOwnership::onEpochs(PartitionHost& host, std::size_t first) {
  for (std::size_t i = first; i < host.ledger().epochStarts().size(); ++i) listener_.learn(host.recordOf(i));
}

// The owner's last entry names this device.
void EmbeddedOwnership::onFollowed(PartitionHost& host, Now now) {
  const PartitionTable& partitions = state_.partitions;
  const OwnershipRecord* claim = state_.owners.find(host.id());
  if (host.successor() != state_.ownerName || !partitions.usable(host.id()) || partitions.stopped(host.id())) return;
  if (claim != nullptr && claim->epoch() > host.epoch() && !mutated("succeedAnyway"))
    return;  // somebody has seized it meanwhile
  host.beginEpoch({host.epoch().number + 1, state_.ownerName}, kernel::EpochCause::handover, now.wall, "",
                  state_.writes.pending());
  ++state_.counters.handovers;
  listener_.announce(host.claim());
  listener_.tellAll(host);
  state_.notice("owner", host.id(), "epoch " + std::to_string(host.epoch().number));
}

bool EmbeddedOwnership::decide(PartitionHost& host, const Request& request, const std::string& from, Now now) {
  ++state_.counters.decided;
  host.decide(request, now.wall, from);
  // With the largest entry that may come next, the batch must fit into a frame.
  if (host.partition().openBatchBytes() > kMaxAdjudicationFrame / 3) host.stage(state_.writes.pending());
  return true;
}

void EmbeddedOwnership::expirePending(Now now) {
  for (const auto& [id, host] : state_.partitions.hosts())
    if (owns(*host)) host->expire(now.wall);
}

void EmbeddedOwnership::stage() {
  for (const auto& [id, host] : state_.partitions.hosts())
    if (state_.partitions.usable(id)) host->stage(state_.writes.pending());
}

// A sync for every round of the owner would come before each answer that it gives this device.
std::int64_t EmbeddedOwnership::syncWaitMs() const { return state_.outbox.size() > 0 ? kBusySyncMs : 0; }

Status EmbeddedOwnership::checkEmbedded() const {
  if (!state_.config.etcd) return okStatus();
  return operatorsDoNotDecide();
}

// Others would not believe it.
Status EmbeddedOwnership::checkMayTakeOver() const {
  if (!state_.provesOwners() || state_.config.heads->mayTakeOver(state_.device()) == Takeover::yes) return okStatus();
  return Error{ErrorCode::unauthorised, "the roster does not let this device take partitions over",
               "the admin gives it the role \"takeover\": witan device roles"};
}

Status EmbeddedOwnership::bootstrap(Now now, const std::function<bool(std::string_view partition)>& which) {
  WITAN_DO(checkEmbedded());
  for (const auto& [id, host] : state_.partitions.hosts()) {
    if (which && !which(id)) continue;
    WITAN_DO(checkMayTakeOver());
    if (host->epoch().number > 0 || state_.owners.find(id) != nullptr)
      return Error{ErrorCode::conflict, "partition " + id + " has an owner", "a cluster is founded once"};
    host->beginEpoch({1, state_.ownerName}, kernel::EpochCause::founding, now.wall, "", state_.writes.pending());
    onEpochs(*host, 0);
  }
  return okStatus();
}

Status EmbeddedOwnership::transferOwnership(std::string_view partition, std::string_view to, std::string_view reason,
                                            Now now) {
  WITAN_DO(checkEmbedded());
  PartitionHost* mine = state_.partitions.find(partition);
  if (mine == nullptr || !owns(*mine))
    return Error{ErrorCode::conflict, "this device does not own partition " + std::string(partition),
                 "its owner is " + state_.ownerDevice(partition)};
  const std::string where = "device " + std::string(to);
  const Peer* const peer = state_.member(to);
  if (peer == nullptr) return Error{ErrorCode::unavailable, where + " is not connected", ""};
  WITAN_DO(checkHeardFrom(*peer, where, partition, now));
  const FollowerProgress& copy = peer->follower(partition);
  if (peer->owner.empty() || !copy.known() || (copy.hasNothing() && !copy.follows()))
    return Error{ErrorCode::conflict, where + " keeps no copy of partition " + std::string(partition),
                 keepersHint(partition)};
  mine->beginEpoch({mine->epoch().number + 1, state_.ownerName}, kernel::EpochCause::handover, now.wall, reason,
                   state_.writes.pending(), peer->owner);
  listener_.announce(mine->claim());
  state_.notice("handover", std::string(partition), "to " + peer->owner);
  return okStatus();
}

std::string EmbeddedOwnership::keepersHint(std::string_view partition) const {
  const auto& keepers = state_.placement.keepers(partition);
  return keepers.empty() ? std::string() : "these keep one: " + joined(keepers);
}

// A link is of use only when its other end has said what it has. A peer that says nothing may not hinder for long.
Status EmbeddedOwnership::checkHeardFrom(const Peer& peer, std::string_view name, std::string_view partition, Now now) {
  const bool says = peer.keeper && !peer.copies && !peer.cut && peer.farewell.empty();
  const bool heard = !peer.owner.empty() && peer.follower(partition).known();
  if (!says || heard || now.ms - peer.sinceMs >= kHearMs) return okStatus();
  return Error{ErrorCode::conflict,
               concat(name, " is connected and has not yet said what it has of partition ", partition),
               concat("run this again in ", kHearMs / 1'000, " s")};
}

Status EmbeddedOwnership::checkHeard(const PartitionHost& host, Now now) const {
  for (const auto& [name, peer] : state_.peers) WITAN_DO(checkHeardFrom(peer, name, host.id(), now));
  return okStatus();
}

// Not while the owner is connected, nor while a connected replica has more of the log.
Status EmbeddedOwnership::checkTakeover(const PartitionHost& host, const kernel::Epoch& last) const {
  const std::string owner(replication::deviceOf(last.owner));
  const auto at = state_.peers.find(owner);
  const PartitionTable::RefusedEpoch* const refused = state_.partitions.refused(host.id());
  const bool refusesOwner = refused != nullptr && last <= refused->epoch;
  // If it follows, it knows that it does not own the partition any more. If it has nothing, its copy is damaged.
  const auto gaveUp = [&](const FollowerProgress& copy) { return copy.follows() || copy.hasNothing(); };
  if (at != state_.peers.end() && at->second.owner == last.owner && !refusesOwner &&
      !gaveUp(at->second.follower(host.id())))
    return Error{ErrorCode::conflict, "the owner " + owner + " is connected", "let it hand the partition over"};
  for (const auto& [name, peer] : state_.peers) {
    if (mutated("seizeBesideCopy")) break;
    const FollowerProgress& follower = peer.follower(host.id());
    if (refusesOwner && follower.batches() > refused->batch) continue;  // it holds the refused batch
    // Of two divergent logs the operator chooses the one that stands.
    const std::uint64_t here = host.ledger().batches() + (mutated("seizeBesideOneMore") ? 1 : 0);
    if (!follower.diverged() && follower.epoch() >= host.epoch() && follower.batches() > here)
      return Error{ErrorCode::conflict, name + " has more of partition " + host.id(), "seize it there"};
  }
  return okStatus();
}

Status EmbeddedOwnership::forceTakeover(std::string_view partition, std::string_view reason, Now now) {
  WITAN_DO(checkEmbedded());
  WITAN_DO(checkMayTakeOver());
  const std::string id(partition);
  PartitionHost* mine = state_.partitions.find(partition);
  if (mine == nullptr)
    return Error{ErrorCode::conflict, "this device keeps no copy of partition " + id, keepersHint(id)};
  if (owns(*mine)) return Error{ErrorCode::conflict, "this device owns partition " + id, ""};
  if (mine->epoch().number == 0 || !state_.partitions.usable(id))
    return Error{ErrorCode::conflict, "this device has nothing of partition " + id + " yet", ""};
  const OwnershipRecord* claim = state_.owners.find(partition);
  const kernel::Epoch last = std::max(mine->epoch(), claim == nullptr ? kernel::Epoch{} : claim->epoch());
  if (!mutated("seizeUnheard")) WITAN_DO(checkHeard(*mine, now));
  if (!mutated("seizeBesideMore")) WITAN_DO(checkTakeover(*mine, last));
  const kernel::Epoch next{mutated("seizeSameEpoch") ? last.number : last.number + 1, state_.ownerName};
  mine->beginEpoch(next, kernel::EpochCause::seizure, now.wall, reason, state_.writes.pending());
  state_.partitions.permitDeciding(id, state_.writes.pending());
  ++state_.counters.seizures;
  listener_.announce(mine->claim());
  listener_.tellAll(*mine);
  state_.notice("seizure", id, "epoch " + std::to_string(next.number));
  return okStatus();
}

}  // namespace witan::node
