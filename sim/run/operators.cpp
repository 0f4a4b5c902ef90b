#include "sim/run/operators.h"

#include <algorithm>

#include "replication/statement.h"
#include "replication/writer.h"

namespace witan::sim {

void Operators::onEvent(Seat& at, const Event& event) {
  if (!isFault(event.kind)) return;
  node::Replica& replica = at.replica();
  const Now now = at.device->now(c_.agenda().now());
  const kernel::DomainModule& module = *c_.modules()[event.m % c_.modules().size()];
  const auto partitions = static_cast<std::uint64_t>(c_.plan().options.cluster.partitions);
  const std::string partition =
      node::partitionId(module.signature().domain, static_cast<std::uint32_t>(event.n % partitions));
  const std::uint32_t other = event.other % c_.founders();
  std::string what = partition;
  Status done = okStatus();
  switch (event.kind) {
    case EventKind::movePartition:
      done = replica.transferOwnership(partition, ClusterSetup::deviceName(other), "rebalanced", now);
      break;
    case EventKind::seizePartition: done = replica.forceTakeover(partition, "its owner is out of reach", now); break;
    case EventKind::retire:
      what = ClusterSetup::deviceName(other);
      done = retire(replica, other);
      break;
    case EventKind::join:
      what = ClusterSetup::deviceName(static_cast<std::uint32_t>(c_.seats().size()));
      done = join(replica);
      break;
    default: return;
  }
  c_.trace(at.index(), "ledger", enumName(event.kind), done.ok() ? what : done.error().message);
  c_.probe(std::string(enumName(event.kind)) + (done.ok() ? " done" : " refused"));
}

// A device that leaves is switched off for good; what only it had is gone with it.
Status Operators::retire(node::Replica& by, std::uint32_t leaving) {
  Seat& out = c_.seat(leaving);
  if (out.retired || out.name() == by.device())
    return Error{ErrorCode::conflict, out.name() + " cannot be retired here", ""};
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  for (const std::string& device : {by.device(), out.name()})
    if (members.standing(device) != replication::Standing::active)
      return Error{ErrorCode::conflict, device + " is no member, as far as " + by.device() + " knows", ""};
  WITAN_DO(data.addStatement(replication::proposeRetire(statements, data.writer(), out.name(), 1)));
  out.retired = true;
  c_.diskLost(out, 0);
  c_.switchOff(leaving, false, -1);
  return okStatus();
}

Status Operators::join(node::Replica& by) {
  if (c_.seats().size() >= kMostDevices) return Error{ErrorCode::unavailable, "the cluster has all its devices", ""};
  WITAN_DO(admit(by, ClusterSetup::deviceName(static_cast<std::uint32_t>(c_.seats().size()))));
  const std::uint32_t index = c_.addSeat();
  c_.agenda().add(c_.agenda().now() + kSecond, StepKind::start, index);
  return okStatus();
}

Status Operators::admit(node::Replica& by, const std::string& device) {
  replication::LocalReplica& data = by.data();
  WITAN_TRY(members, data.membership());
  WITAN_TRY(statements, data.statements());
  return data.addStatement(
      replication::admit(statements, data.writer(), device, members.nextAdmission(device), "device"));
}

// --- the settling phase

void Operators::pardon() {
  for (auto& at : c_.seats())
    if (at->works())
      if (auto held = at->replica().data().quarantines(); held.ok())
        for (const auto& [device, why] : *held) {
          c_.probe("pardoned");
          at->replica().data().pardon(device);
          for (std::uint32_t i = 0; i < c_.seats().size(); ++i) c_.network().started(i);
        }
}

// A device that joined, and that nobody knows: its admission was lost with the power of the one that had admitted it.
std::vector<std::uint32_t> Operators::unadmitted() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = c_.founders(); i < c_.seats().size(); ++i) {
    if (c_.seats()[i]->retired) continue;
    bool known = false;
    for (Seat* at : c_.members()) {
      if (at->index() == i || !at->works()) continue;
      auto members = at->replica().data().membership();
      if (!members.ok()) c_.failed("store", at->name() + ": " + members.error().message);
      known = known || !members.ok() || members->standing(c_.seats()[i]->name()) == replication::Standing::active;
    }
    if (!known) out.push_back(i);
  }
  return out;
}

// An operator says such admissions again.
void Operators::admitAgain() {
  for (const std::uint32_t joining : unadmitted()) {
    const auto active = [&](Seat* at) {
      if (at->index() == joining || !at->works()) return false;
      auto members = at->replica().data().membership();
      return members.ok() && members->standing(at->name()) == replication::Standing::active;
    };
    const std::vector<Seat*> all = c_.members();
    const auto by = std::ranges::find_if(all, active);
    if (by == all.end()) continue;
    node::Replica& replica = (*by)->replica();
    const std::string& name = c_.seats()[joining]->name();
    const Status admitted = admit(replica, name);
    c_.probe(admitted.ok() ? "admitted again" : "not admitted again");
    c_.trace((*by)->index(), "ledger", "admits again", name);
    c_.put((*by)->index(), {});
    for (std::uint32_t j = 0; j < c_.seats().size(); ++j) c_.network().started(j);
  }
}

// A partition whose owner does not exist any more (its disk was lost, or is known to have gone back): an operator
// seizes it at the replica that has most of it.
void Operators::seizeOrphans() {
  if (c_.etcd()) return;  // that is etcd's part
  for (const auto& [module, id] : c_.partitions()) {
    Seat* best = nullptr;
    bool owned = false;
    for (Seat* at : c_.members()) {
      if (!at->works()) continue;
      node::PartitionHost* host = at->replica().host(id);
      if (host == nullptr) continue;
      owned = owned || at->replica().owns(*host);
      const auto rank = [](node::PartitionHost& of) { return std::pair(of.epoch(), of.durableBatches()); };
      if (host->epoch().number > 0 && (best == nullptr || rank(*host) > rank(*best->replica().host(id)))) best = at;
    }
    if (owned || best == nullptr) continue;
    const Status seized = best->replica().forceTakeover(id, "its owner is gone", best->device->now(c_.agenda().now()));
    c_.probe(seized.ok() ? "orphan seized" : "orphan not seized");
    c_.trace(best->index(), "ledger", "seizes", id + (seized.ok() ? "" : ": " + seized.error().message));
    c_.put(best->index(), {});
  }
}

// The counselors come to work.
void Operators::decideEverything() {
  for (Seat* at : c_.members()) {
    if (!at->works()) continue;
    for (const auto& [id, host] : at->replica().hosts()) {
      if (!at->replica().owns(*host)) continue;
      for (const kernel::PendingView& view : host->partition().queue()) {
        node::Request request;
        request.kind = node::RequestKind::reject;
        request.domain = host->module().signature().domain;
        request.entity = view.entity;
        request.operationId = "settle-" + std::to_string(++decided_);
        request.counselor = host->module().signature().counselors.front();
        request.reason = "the day ends";
        clients_.submit(*at, std::move(request), false);
        c_.put(at->index(), {});
      }
    }
  }
}

}  // namespace witan::sim
