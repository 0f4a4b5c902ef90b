#include "replica/core/replica_state.h"

#include "replication/writer.h"

namespace witan::node {

const FollowerProgress& Peer::follower(std::string_view partition) const {
  static const FollowerProgress unknown;
  const auto at = partitions.find(partition);
  return at == partitions.end() ? unknown : at->second.follower;
}

const kernel::DomainModule* ReplicaState::moduleOf(std::string_view domain) const {
  for (const kernel::DomainModule* module : config.domains)
    if (module->signature().domain == domain) return module;
  return nullptr;
}

std::string ReplicaState::partitionFor(std::string_view domain, std::string_view entity) const {
  return partitionOf(domain, entity, config.partitions);
}

std::string ReplicaState::ownerDevice(std::string_view partition) const {
  const OwnershipRecord* claim = owners.find(partition);
  return claim == nullptr ? std::string() : std::string(replication::deviceOf(claim->owner));
}

Peer* ReplicaState::member(std::string_view device) {
  const auto at = peers.find(device);
  return at == peers.end() || !at->second.full() ? nullptr : &at->second;
}

void ReplicaState::cutOff(const std::string& from, Peer& peer, const Error& why) {
  ++counters.badFrames;
  peer.cut = true;
  notice("badFrame", "", from + ": " + why.message);
}

void ReplicaState::refuseLog(PartitionHost& host, const kernel::Epoch& last, const std::string& from,
                             std::string_view batch, const Error& why) {
  const std::uint64_t number = host.ledger().batches();
  const std::string what = host.id() + ": batch " + std::to_string(number) + " in epoch " +
                           std::to_string(last.number) + " of " + last.owner +
                           " is refused, because the rules of this device do not give it: " + why.message;
  partitions.refuse(host.id(), {last, number}, batch, writes.pending());
  partitions.reopen(host.id());
  ++counters.logsRefused;
  followDirty = expedite = true;
  local->note({"unlawful", from, what});
  notice("unlawful", host.id(), what);
}

bool ReplicaState::refusesOwner(std::string_view partition) const {
  const OwnershipRecord* claim = owners.find(partition);
  return claim != nullptr && partitions.refuses(partition, claim->epoch());
}

}  // namespace witan::node
