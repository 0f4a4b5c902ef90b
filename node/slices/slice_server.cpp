#include "node/slices/slice_server.h"

#include "node/ledgers/ledger_feed.h"
#include "replica/core/shown.h"

namespace witan::node {

namespace {

bool actsIn(const RosterDevice& device, const kernel::DomainModule& module) {
  for (const kernel::RoleInfo& role : module.signature().roles)
    if (device.mayAct(module.signature().domain, role.name)) return true;
  return false;
}

}  // namespace

void SliceServer::connected(const RosterDevice& device) {
  if (device.keepsLedgers()) return;
  peers_[device.device] = Peer{device, false, {}};
}

Status SliceServer::onHave(const std::string& device, const SliceHave& have) {
  const auto at = peers_.find(device);
  if (at == peers_.end()) return okStatus();  // it keeps ledgers of its own
  if (have.places.size() > kMaxPartitions) return invalid("more places than there can be partitions");
  Peer& peer = at->second;
  peer.asked = true;
  peer.sent.clear();
  for (const SlicePlace& place : have.places) peer.sent[place.partition] = place.batches;
  return okStatus();
}

std::set<std::string> SliceServer::waiting() const {
  std::set<std::string> devices;
  for (const auto& [device, peer] : peers_) {
    if (!peer.asked) continue;
    for (const auto& [id, host] : replica_.hosts()) {
      if (!shows(*host)) continue;
      const auto sent = peer.sent.find(id);
      if (sent != peer.sent.end() ? sent->second != host->durableBatches() : host->durableBatches() > 0)
        devices.insert(device);
    }
  }
  return devices;
}

Result<bool> SliceServer::produce(const std::string& device, std::string& out) {
  const auto found = peers_.find(device);
  if (found == peers_.end() || !found->second.asked) return false;
  Peer& peer = found->second;
  for (const auto& [id, host] : replica_.hosts()) {
    if (!shows(*host)) continue;
    std::uint64_t& sent = peer.sent[id];
    const std::uint64_t durable = host->durableBatches();
    if (sent == durable) continue;
    if (!actsIn(peer.rights, host->module())) {
      sent = durable;
      continue;
    }
    if (sent > durable) sent = 0;  // what it rests on was set aside: everything again
    while (sent < durable) {
      if (out.size() >= kSliceBudget) return true;
      WITAN_DO(sendBatch(peer, *host, sent, out));
      ++sent;
    }
    out += clusterFrame(SliceUpTo{{id, sent}});
  }
  return false;
}

Status SliceServer::sendBatch(const Peer& peer, PartitionHost& host, std::uint64_t number, std::string& out) const {
  std::map<std::string, Time> changed;
  WITAN_DO(visitBatch(host, number,
                      [&](const StoredEntry& entry) { changed[std::string(entry.entry.entity)] = entry.entry.time; }));
  const kernel::DomainModule& module = host.module();
  for (const auto& [entity, time] : changed) {
    const kernel::EntityState* state = host.partition().state(entity);
    if (state == nullptr) continue;
    for (const kernel::RoleInfo& role : module.signature().roles) {
      if (!peer.rights.mayAct(module.signature().domain, role.name)) continue;
      Slice slice{module.signature().domain,       entity, role.name, {},
                  host.partition().frozen(entity), time,   host.id(), host.durableBatches()};
      module.writeState(slice.state, *state, role.footprint);
      if (slice.state.size() > kMaxClusterFrame / 2) continue;  // no frame holds it: such a role keeps the ledger
      out += clusterFrame(slice);
    }
  }
  return okStatus();
}

}  // namespace witan::node
