#include "replica/core/replica_state.h"

#include "replication/writer.h"

namespace witan::node {

namespace {
constexpr std::string_view kEvidenceRows = "y/";  // + partition, epoch -> what the incident says, newline, file
constexpr std::size_t kMaxEvidence = 256;
}  // namespace

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
                             std::string_view batch, const Error& why, const std::string& kind,
                             const std::string& file) {
  const std::uint64_t number = host.ledger().batches();
  const std::string what = concat(
      host.id(), ": batch ", number, " in epoch ", last.number, " of ", last.owner, " is refused, because ",
      kind == "unlawful" ? "the rules of this device do not give it: " : "it is in the name of another: ", why.message);
  partitions.refuse(host.id(), {last, number}, batch, writes.pending());
  partitions.reopen(host.id());
  ++counters.logsRefused;
  followDirty = expedite = true;
  local->note({kind, from, what});
  notice(kind, host.id(), what);
  if (file.empty() || evidence.size() >= kMaxEvidence) return;
  evidence.emplace(what, file);
  writes.pending().put(concat(kEvidenceRows, host.id(), '/', last.number, '/', last.owner), concat(what, '\n', file));
}

Status ReplicaState::loadEvidence() {
  return stores.ledgers.scan(kEvidenceRows, {}, [&](std::string_view, std::string_view row) {
    const std::size_t end = row.find('\n');
    if (end != std::string_view::npos) evidence.emplace(row.substr(0, end), row.substr(end + 1));
    return true;
  });
}

bool ReplicaState::refusesOwner(std::string_view partition) const {
  const OwnershipRecord* claim = owners.find(partition);
  return claim != nullptr && partitions.refuses(partition, claim->epoch());
}

}  // namespace witan::node
