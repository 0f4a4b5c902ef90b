// Etcd in the world: what it says to devices, what they say to it, and which faults cut them off from it.
#include <algorithm>

#include "sim/world.h"

namespace witan::sim {

void World::startEtcd() {
  const auto replicas =
      static_cast<std::uint32_t>(std::min(plan_.options.cluster.ledgerReplicas, plan_.options.cluster.devices));
  EtcdHooks& hooks = *this;
  etcd_ = std::make_unique<EtcdService>(plan_.options.network, plan_.options.seed, replicas, agenda_, hooks,
                                        static_cast<std::size_t>(plan_.options.cluster.etcdRequestBytes));
}

bool World::etcdReachable(std::uint32_t device) const { return reachable(device); }

void World::onEtcdConnected(std::uint32_t device) {
  trace(device, "net", "connected", "etcd");
  Arrival arrival;
  arrival.kind = Arrival::Kind::etcdConnected;
  put(device, std::move(arrival));
}

void World::onEtcdDisconnected(std::uint32_t device) {
  trace(device, "net", "disconnected", "etcd");
  Arrival arrival;
  arrival.kind = Arrival::Kind::etcdDisconnected;
  put(device, std::move(arrival));
}

void World::onEtcdAnswer(std::uint32_t device, node::EtcdAnswer answer) {
  digest_.add(answer.id);
  digest_.add(answer.revision << 1 | (answer.succeeded ? 1 : 0));
  if (tracing_)
    trace(device, "net", "etcd says",
          "answer " + std::to_string(answer.id) + (answer.succeeded ? " yes" : "") +
              (answer.error == node::EtcdError::none ? std::string() : " " + std::string(enumName(answer.error))) +
              ", revision " + std::to_string(answer.revision) + ", changes " + std::to_string(answer.changes.size()));
  Arrival arrival;
  arrival.kind = Arrival::Kind::etcdAnswer;
  arrival.answer = std::move(answer);
  put(device, std::move(arrival));
}

// Part of checker "fences": a log in etcd has no gap at any moment. Behind one stands what no next owner knows of, and
// who becomes that begins in it. And of checker "no-decision-lost": of what etcd lets go enough disks have a copy.
void World::onEtcdApplied(const node::EtcdRequest& request) {
  for (const node::EtcdOp& op : request.then) {
    if (op.act != node::EtcdAct::put) continue;
    if (const std::string gap = gapBefore(etcd_->model(), op.keys.key); !gap.empty()) return failed("fences", gap);
    const std::string early = letsGoTooEarly(op, setup_.etcdCopies(), [&](const std::string& partition) {
      probe("etcd lets go of batches");
      return batchesOnDisks(partition);
    });
    if (!early.empty()) return failed("no-decision-lost", early);
  }
}

std::uint64_t World::batchesOnDisk(Seat& at, const std::string& partition) {
  if (at.device->running())
    if (const node::PartitionHost* host = at.device->replica().host(partition)) return host->durableBatches();
  std::uint64_t batches = 0;
  const Status scanned = at.device->disk(2).scan("p/" + partition + "/l", {},
                                                 [&](std::string_view, std::string_view) { return ++batches, true; });
  if (!scanned.ok()) trace(at.device->index(), "check", "a log is unreadable", scanned.error().message);
  return batches;
}

// Of each device. One whose disk was lost or went back may have said what was true until then.
std::vector<std::uint64_t> World::batchesOnDisks(const std::string& partition) {
  std::vector<std::uint64_t> held;
  for (auto& at : seats_) {
    const auto before = at->batchesLost.find(partition);
    held.push_back(std::max(batchesOnDisk(*at, partition), before == at->batchesLost.end() ? 0 : before->second));
  }
  return held;
}

// The disk is about to be another.
void World::rememberBatches(Seat& at) {
  for (const auto& module : modules_)
    for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(plan_.options.cluster.partitions); ++n) {
      const std::string id = node::partitionId(module->signature().domain, n);
      std::uint64_t& lost = at.batchesLost[id];
      lost = std::max(lost, batchesOnDisk(at, id));
    }
}

void World::onEtcd(std::uint32_t device, std::string_view what, std::string_view detail) {
  probe(what);
  trace(device, "fault", what, detail);
}

void World::sendToEtcd(std::uint32_t device, std::vector<node::EtcdRequest> requests) {
  for (node::EtcdRequest& request : requests) {
    if (tracing_) {
      const std::string key = request.compares.empty() ? std::string() : " " + request.compares.back().key;
      trace(device, "net", "asks etcd", std::string(enumName(request.call)) + " " + std::to_string(request.id) + key);
    }
    etcd_->send(device, std::move(request), agenda_.now());
  }
}

// Etcd stands somewhere: on one side of a split, and with an isolated device or with all others. Whether the devices
// are cut off from each other as well; a device may lose its way to etcd alone.
bool World::blockEtcd(const Event& event, bool block) {
  const auto set = [&](std::uint32_t device) { block ? etcd_->block(device) : etcd_->unblock(device); };
  switch (event.kind) {
    case EventKind::split:
      for (std::uint32_t i = 0; i < founders(); ++i)
        if ((event.n >> i & 1) != (event.seed & 1)) set(i);
      return true;
    case EventKind::offline: set(event.device % founders()); return true;
    case EventKind::isolate:
      if (event.seed % 3 != 0) set(event.device % founders());
      return event.seed % 3 != 1;
    default: return true;
  }
}

void World::addEtcdProbes(const node::EtcdCounters& counters) {
  forEachMember<node::EtcdCounters>(
      [&](auto member, auto) { result_.probes["etcd " + std::string(member.name)] += counters.*member.pointer; });
}

}  // namespace witan::sim
