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

}  // namespace witan::node
