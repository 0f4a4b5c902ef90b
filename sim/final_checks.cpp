// What must hold when everything has come to rest: docs/SIMULATION.md has the list of checkers.
#include <algorithm>
#include <set>

#include "sim/world.h"

namespace witan::sim {

using replication::Dot;
using replication::Kind;
using replication::Space;
using replication::Version;

namespace {

std::string nameOf(const BookedWrite& write) {
  return write.dot.host + ":" + std::to_string(write.dot.counter) + ", durable on " +
         ClusterSetup::deviceName(write.device);
}

// The first write of a key that should be there and is not; "": none.
std::string lostWrite(const std::vector<Version>& held, const std::vector<BookedWrite>& writes) {
  std::set<Dot> there, fine;
  for (const Version& version : held) there.insert(version.dot);
  fine = there;
  // Later writes first: one that is fine makes everything fine that its author saw. A removal leaves nothing behind
  // once everybody knows of it, but what it took away must be gone.
  for (auto at = writes.rbegin(); at != writes.rend(); ++at) {
    // What its own device could have lost counts too, once somebody has seen it.
    // (And a removal that survived by luck leaves no trace but that what it removed is gone.)
    if (!at->durable && !at->tombstone && !fine.contains(at->dot)) continue;
    if (!at->durable && at->tombstone) fine.insert(at->dot);
    if (at->tombstone && !at->mayBeLost && !fine.contains(at->dot)) {
      for (const Dot& seen : at->seen)
        if (there.contains(seen)) return "the removal " + nameOf(*at) + ", is nowhere, and what it removed is back";
      fine.insert(at->dot);
    }
    if (fine.contains(at->dot) || at->mayBeLost)
      for (const Dot& seen : at->seen) fine.insert(seen);
  }
  for (const BookedWrite& write : writes)
    if (write.durable && !write.mayBeLost && !fine.contains(write.dot))
      return nameOf(write) + ", is nowhere, and nobody saw it";
  return {};
}

// The first version that is there although somebody whose version counts had seen it and wrote over it; "": none.
std::string outlived(Kind kind, const std::vector<Version>& held, const std::vector<BookedWrite>& writes) {
  std::set<Dot> there, over;
  for (const Version& version : held) there.insert(version.dot);
  for (auto at = writes.rbegin(); at != writes.rend(); ++at) {
    if (!at->durable || at->mayBeLost || !(at->tombstone || replication::traitsOf(kind).register_)) continue;
    if (!there.contains(at->dot) && !over.contains(at->dot)) continue;
    for (const Dot& seen : at->seen) {
      over.insert(seen);
      if (there.contains(seen))
        return seen.host + ":" + std::to_string(seen.counter) + " is still there, or back, and the author of " +
               nameOf(*at) + ", wrote over it";
    }
  }
  return {};
}

}  // namespace

void World::checkAtEnd() {
  if (!settled_) return failed("liveness", "the agenda is empty before everything has settled: " + waitingFor_);
  checkReplicas();
  if (!result_.failure) checkWrites();
  if (!result_.failure) checkLedgers();
  if (!result_.failure) checkRequests();
  if (!result_.failure) checkAgents();
  if (!result_.failure) checkConfinement();
  if (!result_.failure) checkAlarms();
}

// Checker "convergence": equal vectors and digests of every space that two devices share, and integrity of each.
void World::checkReplicas() {
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i]->retired) continue;
    replication::LocalReplica& mine = seats_[i]->device->replica().data();
    for (const std::string& id : mine.spaceIds()) {
      Space* here = mine.findSpace(id);
      if (Status sound = here->checkIntegrity(); !sound.ok())
        return failed("convergence", seats_[i]->device->name() + " " + id + ": " + sound.error().message);
      const std::string scope = id.substr(id.find('/') + 1);
      for (std::size_t j = 0; j < i; ++j) {
        if (seats_[j]->retired || !setup_.mayHave(seats_[j]->device->name(), scope)) continue;
        Space* there = seats_[j]->device->replica().data().findSpace(id);
        const std::string who = seats_[i]->device->name() + " and " + seats_[j]->device->name() + " differ in " + id;
        if (there == nullptr) return failed("convergence", who + ": only one has it");
        if (here->clock() != there->clock()) return failed("convergence", who + ": their vectors");
        if (here->digest() != there->digest())
          return failed("convergence", who + ": their digests, with equal vectors");
      }
    }
  }
}

// Checker "no-write-lost": what became durable on a disk that was not lost is there, or somebody who saw it (or who saw
// somebody who did) wrote over it.
void World::checkWrites() {
  for (const auto& [key, writes] : book_.writes()) {
    const auto& [spaceId, record] = key;
    const std::string scope = spaceId.substr(spaceId.find('/') + 1);
    Space* space = nullptr;
    for (auto& at : seats_)
      if (!at->retired && setup_.mayHave(at->device->name(), scope) && space == nullptr)
        space = at->device->replica().data().findSpace(spaceId);
    if (space == nullptr) continue;
    auto versions = space->versions(static_cast<Kind>(record.first), record.second);
    if (!versions.ok()) return failed("no-write-lost", versions.error().message);
    const std::string lost = lostWrite(*versions, writes);
    if (!lost.empty()) return failed("no-write-lost", spaceId + " " + record.second + ": " + lost);
    const std::string back = outlived(static_cast<Kind>(record.first), *versions, writes);
    if (!back.empty()) return failed("no-write-back", spaceId + " " + record.second + ": " + back);
  }
}

// Checker "alarms": no device met what cannot be unless a disk went back or a member says what is not true: equal
// vectors with unequal contents, one dot with two bodies; and no peer had to tell it that its counters went back,
// unless the record beside its disks did too. Repair would hide these from the others.
void World::checkAlarms() {
  for (auto& at : seats_) {
    if (!at->device->running()) continue;
    const auto incidents = at->device->replica().data().incidents();
    if (!incidents.ok()) return failed("store", at->device->name() + ": " + incidents.error().message);
    for (const replication::Incident& incident : *incidents) {
      probe("incident: " + incident.kind);
      const bool alarm =
          (incident.kind == "digestAlarm" || incident.kind == "equivocation" || incident.kind == "olderCopy") &&
          book_.losses().empty() && !result_.probes.contains("fault: hostile");
      const bool counters = incident.kind == "rolledBack" && !recordWentBack_;
      if (alarm || counters)
        return failed("alarms", at->device->name() + " reports " + incident.kind + " with " + incident.peer + ": " +
                                    incident.what);
    }
  }
}

void World::checkLedgers() {
  for (auto& at : seats_)
    if (!at->retired && !result_.failure) checkCopies(*at);
  if (result_.failure) return;
  for (const auto& module : modules_)
    for (std::uint32_t n = 0; n < static_cast<std::uint32_t>(plan_.options.cluster.partitions); ++n) {
      checkLedger(*module, node::partitionId(module->signature().domain, n));
      if (result_.failure) return;
    }
}

// Checker "no-request-lost": whatever a device had taken on, for good or while it ran, was answered.
void World::checkRequests() {
  for (const BookedRequest& request : book_.requests()) {
    if (request.outlasts && request.returned && request.answer.kind == node::AnswerKind::frozen)
      return failed("no-request-lost", ClusterSetup::deviceName(request.device) + " had taken on " +
                                           request.request.operationId +
                                           ", and was done with it when it heard that a proposal is pending");
    if (request.inOutbox && !request.returned && !request.answerLost && !request.mayBeLost)
      return failed("no-request-lost", ClusterSetup::deviceName(request.device) + " had taken on " +
                                           request.request.operationId + (request.accepted ? " durably" : "") +
                                           ", nothing waits any more, and it was never answered");
  }
}

// Checker "confinement": no byte of what a device may not have is on its disks. (What it receives is looked at when it
// arrives.)
void World::checkConfinement() {
  for (auto& at : seats_)
    for (std::size_t n = 0; n < kStores; ++n) {
      std::string leak;
      at->device->disk(n).visitBytes([&](std::string_view key, std::string_view value) {
        leak = confinement_->checkRow(at->device->name(), kStoreNames[n], key, value);
        return leak.empty();
      });
      if (!leak.empty()) return failed("confinement", leak);
    }
}

}  // namespace witan::sim
