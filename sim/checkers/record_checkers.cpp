// The checkers of replicated records: when everything has come to rest, all devices hold the same, and nothing is lost.
#include <algorithm>
#include <set>

#include "sim/checkers/checker.h"

namespace witan::sim {

using replication::Dot;
using replication::Kind;
using replication::Space;
using replication::Version;

namespace {

// The first version that counts and that one has and the other has not; "": none.
std::string onlyIn(Space& one, Space& other, const std::string& device) {
  std::string found;
  one.table().visit([&](replication::Record& record) {
    if (!one.schemas().traits(record.kind).digested) return true;
    const replication::Record* there = other.table().find(record.kind, record.key());
    for (const replication::Held* held : record.versions) {
      const std::string& writer = one.writers().name(held->writer);
      const auto same = [&](const replication::Held* its) {
        return other.writers().name(its->writer) == writer && its->seq == held->seq &&
               its->fingerprint() == held->fingerprint();
      };
      if (held->tombstone || (there != nullptr && std::ranges::any_of(there->versions, same))) continue;
      found = concat("; ", one.schemas().traits(record.kind).name, " ", record.key(), " of ", writer, ":", held->seq,
                     " is on ", device, " alone");
      return false;
    }
    return true;
  });
  return found;
}

// Checker "convergence": equal vectors and digests of every space that two devices share, and integrity of each.
class ConvergenceChecker final : public Checker {
 public:
  explicit ConvergenceChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    const std::vector<Seat*> all = c_.members();
    for (auto one = all.begin(); one != all.end(); ++one) {
      replication::LocalReplica& mine = (*one)->replica().data();
      for (const std::string& id : mine.spaceIds()) {
        Space* here = mine.findSpace(id);
        if (Status sound = here->checkIntegrity(); !sound.ok())
          return c_.failed("convergence", (*one)->name() + " " + id + ": " + sound.error().message);
        const std::string scope = id.substr(id.find('/') + 1);
        if (!c_.setup().mayHave((*one)->name(), scope)) continue;
        for (auto other = all.begin(); other != one; ++other) {
          if (!c_.setup().mayHave((*other)->name(), scope)) continue;
          Space* there = (*other)->replica().data().findSpace(id);
          const std::string who = (*one)->name() + " and " + (*other)->name() + " differ in " + id;
          if (there == nullptr) return c_.failed("convergence", who + ": only one has it");
          if (here->clock() != there->clock()) return c_.failed("convergence", who + ": their vectors");
          if (here->digest() != there->digest())
            return c_.failed("convergence",
                             concat(who, ": their digests, with equal vectors", onlyIn(*here, *there, (*one)->name()),
                                    onlyIn(*there, *here, (*other)->name())));
        }
      }
    }
  }
};

std::string nameOf(const WriteRecord& write) {
  return concat(write.dot.host, ":", write.dot.counter, ", durable on ", ClusterSetup::deviceName(write.device));
}

// The first write of a key that should be there and is not; "": none.
std::string lostWrite(const std::vector<Version>& held, const std::vector<WriteRecord>& writes) {
  std::set<Dot> fine, shown;
  for (const Version& version : held) {
    fine.insert(version.dot);
    if (!version.tombstone) shown.insert(version.dot);
  }
  // Later writes first: one that is fine makes everything fine that its author saw. A removal leaves nothing behind
  // once everybody knows of it, but what it took away must be gone. (An older removal may stand on a disk that went
  // back.)
  for (auto at = writes.rbegin(); at != writes.rend(); ++at) {
    // What its own device could have lost counts too, once somebody has seen it.
    // (And a removal that survived by luck leaves no trace but that what it removed is gone.)
    if (!at->durable && !at->tombstone && !fine.contains(at->dot)) continue;
    if (!at->durable && at->tombstone) fine.insert(at->dot);
    if (at->tombstone && !at->mayBeLost && !fine.contains(at->dot)) {
      for (const Dot& seen : at->seen)
        if (shown.contains(seen)) return "the removal " + nameOf(*at) + ", is nowhere, and what it removed is back";
      fine.insert(at->dot);
    }
    if (fine.contains(at->dot) || at->mayBeLost)
      for (const Dot& seen : at->seen) fine.insert(seen);
  }
  for (const WriteRecord& write : writes)
    if (write.durable && !write.mayBeLost && !fine.contains(write.dot))
      return nameOf(write) + ", is nowhere, and nobody saw it";
  return {};
}

// The first version that is there although somebody whose version counts had seen it and wrote over it; "": none. A
// removal shows nothing: one under a used dot, after disks went back, is no write that came back.
std::string outlived(Kind kind, const std::vector<Version>& held, const std::vector<WriteRecord>& writes) {
  std::set<Dot> there, shown, over;
  for (const Version& version : held) {
    there.insert(version.dot);
    if (!version.tombstone) shown.insert(version.dot);
  }
  for (auto at = writes.rbegin(); at != writes.rend(); ++at) {
    if (!at->durable || at->mayBeLost || !(at->tombstone || replication::traitsOf(kind).register_)) continue;
    if (!there.contains(at->dot) && !over.contains(at->dot)) continue;
    for (const Dot& seen : at->seen) {
      over.insert(seen);
      if (shown.contains(seen))
        return concat(seen.host, ":", seen.counter, " is still there, or back, and the author of ", nameOf(*at),
                      ", wrote over it");
    }
  }
  return {};
}

// Checkers "no-write-lost" and "no-write-back": what became durable on a disk that was not lost is there, or somebody
// who saw it (or who saw somebody who did) wrote over it; and then it is gone.
class WriteChecker final : public Checker {
 public:
  explicit WriteChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    for (const auto& [key, writes] : c_.history().writes()) {
      const auto& [spaceId, record] = key;
      if (record.second.starts_with("desk/")) continue;  // agents write there too: checker "effects"
      const std::string scope = spaceId.substr(spaceId.find('/') + 1);
      Space* space = nullptr;
      for (Seat* at : c_.members())
        if (c_.setup().mayHave(at->name(), scope) && space == nullptr) space = at->replica().data().findSpace(spaceId);
      if (space == nullptr) continue;
      auto versions = space->versions(static_cast<Kind>(record.first), record.second);
      if (!versions.ok()) return c_.failed("no-write-lost", versions.error().message);
      const std::string lost = lostWrite(*versions, writes);
      if (!lost.empty()) return c_.failed("no-write-lost", spaceId + " " + record.second + ": " + lost);
      const std::string back = outlived(static_cast<Kind>(record.first), *versions, writes);
      if (!back.empty()) return c_.failed("no-write-back", spaceId + " " + record.second + ": " + back);
    }
  }
};

// Checker "alarms": no device met what cannot be unless a disk went back or a member says what is not true: equal
// vectors with unequal contents, one dot with two bodies; and no peer had to tell it that its counters went back,
// unless the record beside its disks did too. Repair would hide these from the others.
class AlarmChecker final : public Checker {
 public:
  explicit AlarmChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    const bool sidecarRolledBack =
        std::ranges::any_of(c_.seats(), [](const auto& at) { return at->sidecarRolledBack; });
    for (auto& at : c_.seats()) {
      if (!at->running()) continue;
      const auto incidents = at->replica().data().incidents();
      if (!incidents.ok()) return c_.failed("store", at->name() + ": " + incidents.error().message);
      for (const replication::Incident& incident : *incidents) {
        c_.probe("incident: " + incident.kind);
        const bool alarm =
            (incident.kind == "digestAlarm" || incident.kind == "equivocation" || incident.kind == "olderCopy") &&
            c_.history().losses().empty() && !c_.probes().contains("fault: hostile");
        const bool counters = incident.kind == "rolledBack" && !sidecarRolledBack;
        if (alarm || counters)
          return c_.failed("alarms",
                           at->name() + " reports " + incident.kind + " with " + incident.peer + ": " + incident.what);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Checker> makeConvergenceChecker(Cluster& c) { return std::make_unique<ConvergenceChecker>(c); }
std::unique_ptr<Checker> makeWriteChecker(Cluster& c) { return std::make_unique<WriteChecker>(c); }
std::unique_ptr<Checker> makeAlarmChecker(Cluster& c) { return std::make_unique<AlarmChecker>(c); }

}  // namespace witan::sim
