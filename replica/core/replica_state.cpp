#include "replica/core/replica_state.h"

#include <algorithm>

#include "base/mutant.h"
#include "replica/core/log_head.h"
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

bool ReplicaState::isKeeper(std::string_view partition) const {
  return config.ledgerReplica && (keepsAll || placement.keeps(device(), partition));
}

bool ReplicaState::isSuccessor(std::string_view partition) const {
  const OwnershipRecord* claim = owners.find(partition);
  return claim != nullptr && claim->successor == ownerName;
}

bool ReplicaState::isPlaced(std::string_view partition) const {
  const bool matters = placement.partial(partition) || placement.retention(partition) != nullptr;
  return config.ledgerReplica && matters && placement.keeps(device(), partition);
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
                             std::string_view batch, const Error& why, const std::string& kind, EntryEvidence file) {
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
  if (file.kind == "unlawful" && !file.head) {
    unlawful.emplace(what, std::move(file));  // until a head names the owner's rules
  } else if (const std::string text = provenBy(from, std::move(file)); !text.empty()) {
    takeEvidence(*verifyEvidence(text, rules()), text, what);
  }
}

void ReplicaState::beginRun() {
  if (!config.heads) return;
  const auto draw = [this] { return std::uint64_t{config.replication.freshTag()}; };
  run = mutated("oneRun") ? 1 : draw() << 32 | draw();
}

std::string ReplicaState::provenBy(std::string_view device, EntryEvidence file) const {
  if (file.kind.empty()) return {};
  for (const PublicKey& key : config.heads->keysOf(device)) {
    const auto verifier = kernel::makeNoteVerifier(keyNameOf(config.replication.cluster, device), key);
    if (!verifier.ok()) continue;
    file.key = kernel::verifierKeyText(*verifier);
    if (std::string text = toJson(file); text.size() <= kMaxEntryEvidence && verifyEvidence(text, rules()).ok())
      return text;
  }
  return {};
}

void ReplicaState::takeEvidence(const ProvenOffence& proven, std::string_view file, const std::string& what) {
  const std::string device = deviceOfKeyName(config.replication.cluster, proven.signer.name);
  const auto keys = config.heads ? config.heads->keysOf(device) : std::vector<PublicKey>();
  if (std::ranges::find(keys, proven.signer.publicKey) == keys.end()) return;
  if (!evidence.add(what.empty() ? proven.what : what, device, proven, file, writes.pending())) return;
  if (what.empty()) {
    local->note({proven.kind, device, proven.what});
    notice("evidence", proven.log, proven.what);
  }
  if (file.size() > kMaxToldEvidence) return;
  for (auto& [name, peer] : peers)
    if (peer.greeted && peer.keeper) peer.news.proofs.emplace_back(file), peer.newsDue = true;
}

bool ReplicaState::refusesOwner(std::string_view partition) const {
  const OwnershipRecord* claim = owners.find(partition);
  return claim != nullptr && partitions.refuses(partition, claim->epoch());
}

}  // namespace witan::node
