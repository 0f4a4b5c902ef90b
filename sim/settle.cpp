// The settling phase: faults end, nothing new is asked, and within a stated time everything pending must be done.
#include <algorithm>

#include "replication/writer.h"
#include "sim/world.h"

namespace witan::sim {

namespace {
constexpr Micros kLook = 5 * kSecond;
}

void World::beginSettling() {
  settling_ = true;
  settleBy_ = agenda_.now() + plan_.options.time.settleSeconds * kSecond;
  network_.calm();
  trace(kNobody, "check", "settling begins");
  for (auto& at : seats_) {
    for (std::size_t n = 0; n < kStores; ++n) at->device->disk(n).setFull(false);
    at->device->setSlowDisk(false);
    at->strike.reset();
  }
}

void World::look() {
  if (!settling_) beginSettling();
  for (std::uint32_t i = 0; i < seats_.size(); ++i)
    if (!seats_[i]->device->running() && !seats_[i]->retired) agenda_.add(agenda_.now(), StepKind::start, i);
  if (looks_++ % 4 == 3) {  // operators are slower than machines
    for (auto& at : seats_)
      if (at->device->running() && !at->device->paused)
        if (auto held = at->device->replica().data().quarantines(); held.ok())
          for (const auto& [device, why] : *held) {
            probe("pardoned");
            at->device->replica().data().pardon(device);
            for (std::uint32_t i = 0; i < seats_.size(); ++i) network_.started(i);
          }
    admitAgain();
    seizeOrphans();
    decideEverything();
  }
  waitingFor_ = unsettled();
  if (waitingFor_.empty()) {
    settled_ = true;
    trace(kNobody, "check", "settled");
    return;
  }
  if (agenda_.now() >= settleBy_)
    return failed("liveness",
                  "after " + std::to_string(plan_.options.time.settleSeconds) + " s without faults: " + waitingFor_);
  agenda_.add(agenda_.now() + kLook, StepKind::look, 0);
}

// A device that joined, and that nobody knows: its admission was lost with the power of the one that had admitted it.
std::vector<std::uint32_t> World::unadmitted() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = founders(); i < seats_.size(); ++i) {
    if (seats_[i]->retired) continue;
    bool known = false;
    for (auto& at : seats_) {
      if (at->device->index() == i || at->retired || !at->device->running() || at->device->paused) continue;
      auto members = at->device->replica().data().membership();
      if (!members.ok()) failed("store", at->device->name() + ": " + members.error().message);
      known = known || !members.ok() || members->standing(seats_[i]->device->name()) == replication::Standing::active;
    }
    if (!known) out.push_back(i);
  }
  return out;
}

// An operator says such admissions again.
void World::admitAgain() {
  for (const std::uint32_t joining : unadmitted()) {
    const auto active = [&](const std::unique_ptr<Seat>& at) {
      if (at->device->index() == joining || at->retired || !at->device->running() || at->device->paused) return false;
      auto members = at->device->replica().data().membership();
      return members.ok() && members->standing(at->device->name()) == replication::Standing::active;
    };
    const auto by = std::ranges::find_if(seats_, active);
    if (by == seats_.end()) continue;
    node::Replica& replica = (*by)->device->replica();
    const std::string& name = seats_[joining]->device->name();
    const Status admitted = admit(replica, name);
    probe(admitted.ok() ? "admitted again" : "not admitted again");
    trace((*by)->device->index(), "ledger", "admits again", name);
    put((*by)->device->index(), {});
    for (std::uint32_t j = 0; j < seats_.size(); ++j) network_.started(j);
  }
}

// A partition whose owner does not exist any more (its disk was lost, or is known to have gone back): an operator
// seizes it at the replica that has most of it.
void World::seizeOrphans() {
  if (etcd_) return;  // that is etcd's part
  for (const auto& module : modules_)
    for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(plan_.options.cluster.partitions); ++n) {
      const std::string id = node::partitionId(module->signature().domain, n);
      Seat* best = nullptr;
      bool owned = false;
      for (auto& at : seats_) {
        if (!at->device->running() || at->device->paused || at->retired) continue;
        node::PartitionHost* host = at->device->replica().host(id);
        if (host == nullptr) continue;
        owned = owned || at->device->replica().owns(*host);
        const auto rank = [](node::PartitionHost& of) { return std::pair(of.epoch(), of.durableBatches()); };
        if (host->epoch().number > 0 && (best == nullptr || rank(*host) > rank(*best->device->replica().host(id))))
          best = at.get();
      }
      if (owned || best == nullptr) continue;
      const Status seized =
          best->device->replica().forceTakeover(id, "its owner is gone", best->device->now(agenda_.now()));
      probe(seized.ok() ? "orphan seized" : "orphan not seized");
      trace(best->device->index(), "ledger", "seizes", id + (seized.ok() ? "" : ": " + seized.error().message));
      put(best->device->index(), {});
    }
}

// The counselors come to work.
void World::decideEverything() {
  for (auto& at : seats_) {
    if (!at->device->running() || at->device->paused || at->retired) continue;
    for (const auto& [id, host] : at->device->replica().hosts()) {
      if (!at->device->replica().owns(*host)) continue;
      for (const kernel::PendingView& view : host->partition().queue()) {
        node::Request request;
        request.kind = node::RequestKind::reject;
        request.domain = host->module().signature().domain;
        request.entity = view.entity;
        request.operationId = "settle-" + std::to_string(++stories_);
        request.counselor = host->module().signature().counselors.front();
        request.reason = "the day ends";
        submit(*at, std::move(request), false);
        put(at->device->index(), {});
      }
    }
  }
}

// Who should answer a request that waits.
std::string World::standingOf(const node::Request& request) {
  std::string text = " (";
  for (auto& at : seats_) {
    if (at->retired || !at->device->running()) continue;
    node::Replica& replica = at->device->replica();
    const std::string id = replica.partitionFor(request.domain, request.entity);
    const node::PartitionHost* host = replica.host(id);
    if (host != nullptr && replica.owns(*host)) text += at->device->name() + " owns " + id + "; ";
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (at->device->name() != request.device) continue;
    text += "it takes " + (claim == nullptr ? "nobody" : claim->owner) + " for the owner";
    const replication::SyncSession* session =
        claim == nullptr ? nullptr : replica.session(replication::deviceOf(claim->owner));
    if (session == nullptr)
      text += ", with whom it has no connection";
    else if (!session->full())
      text += ", with whom its session is " + std::string(enumName(session->state()));
  }
  return text + ")";
}

// What is still to be done; empty: nothing.
std::string World::unsettled() {
  if (network_.underWay() > 0) return network_.describe();
  for (std::uint32_t i = 0; i < seats_.size(); ++i) {
    Seat& at = *seats_[i];
    if (at.retired) continue;
    if (!at.device->running() || at.device->paused) return at.device->name() + " does not run";
    if (!at.inbox.empty() || at.releasing) return at.device->name() + " is at work";
    node::Replica& replica = at.device->replica();
    if (replica.outbox().size() > 0)
      return at.device->name() + " still waits for an answer to " + replica.outbox().all().begin()->first +
             standingOf(replica.outbox().all().begin()->second.request);
    for (std::uint32_t j = 0; j < i; ++j)
      if (!seats_[j]->retired && network_.linked(i, j) && !network_.connected(i, j))
        return at.device->name() + " and " + seats_[j]->device->name() + " are not connected";
    if (!replica.quiet()) return at.device->name() + " still has something to send";
    for (const auto& [id, host] : replica.hosts())
      if (replica.owns(*host) && !host->partition().queue().empty())
        return "an escalation of " + id + " is not decided";
  }
  for (const std::uint32_t i : unadmitted()) return seats_[i]->device->name() + " is not admitted";
  for (const auto& module : modules_)
    for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(plan_.options.cluster.partitions); ++n)
      if (std::string what = unsettledPartition(node::partitionId(module->signature().domain, n)); !what.empty())
        return what;
  return {};
}

// One owner, and everybody has followed it to the end.
std::string World::unsettledPartition(const std::string& id) {
  std::size_t owners = 0;
  const node::PartitionHost* first = nullptr;
  for (auto& at : seats_) {
    if (at->retired) continue;
    const node::PartitionHost* host = at->device->replica().host(id);
    if (host == nullptr) continue;
    owners += at->device->replica().owns(*host) ? 1 : 0;
    if (first == nullptr) first = host;
    if (host->durableBatches() != first->durableBatches())
      return at->device->name() + " has " + std::to_string(host->durableBatches()) + " batches of " + id +
             ", another device " + std::to_string(first->durableBatches()) + standingsOf(id);
  }
  return owners == 1 ? std::string()
                     : "partition " + id + " has " + std::to_string(owners) + " owners" + standingsOf(id);
}

// What each device has of a partition, and who it takes for its owner: " (device-0 has 3 batches to epoch 1 of ...;
// ...)".
std::string World::standingsOf(const std::string& id) {
  std::string text;
  for (auto& at : seats_) {
    if (at->retired || !at->device->running()) continue;
    node::Replica& replica = at->device->replica();
    const node::PartitionHost* host = replica.host(id);
    const node::OwnershipRecord* claim = replica.owners().find(id);
    if (host == nullptr && claim == nullptr) continue;
    text += (text.empty() ? " (" : "; ") + at->device->name();
    if (host != nullptr)
      text += (replica.owns(*host) ? " owns it, with " : " has ") + std::to_string(host->durableBatches()) +
              " batches to " + nameOf(host->epoch());
    if (claim != nullptr && (host == nullptr || claim->epoch() != host->epoch()))
      text += std::string(host == nullptr ? "" : ",") + " knows of " + nameOf(claim->epoch()) + " from batch " +
              std::to_string(claim->batches) + " on";
  }
  return text.empty() ? text : text + ")";
}

}  // namespace witan::sim
