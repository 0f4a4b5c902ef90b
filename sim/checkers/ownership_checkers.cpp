// The checkers of owners and epochs: what a device may decide, and what it must remember.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/bytes.h"
#include "sim/checkers/checker.h"
#include "sim/etcd_model.h"

namespace witan::sim {

namespace {

// Checker "restart": a device whose disk is whole starts as the one it was. It has the name as an owner that others
// have heard, and knows of every later epoch of which it had heard durably. Where an older copy of its disks was put
// back and it writes under another name, nothing there counts as known to others until it was compared.
class RestartChecker final : public Checker {
 public:
  explicit RestartChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    const node::Replica& replica = at.replica();
    const std::string& name = at.name();
    if (!known_[at].spokenAs.empty() && known_[at].spokenAs != replica.ownerName())
      return c_.failed("restart", name + " has spoken as " + known_[at].spokenAs + ", and starts with its disk as " +
                                      replica.ownerName());
    for (const auto& [id, epoch] : known_[at].claims) {
      const node::OwnershipRecord* claim = replica.owners().find(id);
      if (claim == nullptr || claim->epoch() < epoch)
        return c_.failed("restart", name + " had heard of " + nameOf(epoch) + " of " + id + ", and starts without it");
    }
    if (writers_[at].insert(replica.data().writer()).second && at.rolledBack)
      checkRestored(at, "starts from an older copy of its disks"), c_.probe("started from an older copy");
  }

  // a disk that is not what it was need not remember
  void onDiskLost(Seat& at) override { known_[at] = {}; }

  void onDurable(Seat& at) override {
    const std::string& writer = at.replica().data().writer();
    if (writers_[at].insert(writer).second) checkRenamed(at);
    checkGone(at, writer);
    if (c_.etcd()) return;  // etcd names the owners
    auto& claims = known_[at].claims;
    for (const auto& [id, claim] : at.replica().owners().all()) {
      kernel::Epoch& known = claims[id];
      if (std::tie(claim.number, claim.owner) <= std::tie(known.number, known.owner)) continue;
      if (c_.tracing() && known.number > 0 && claim.owner != at.replica().ownerName())
        c_.trace(at.index(), "ledger", "hears", "of " + nameOf(claim.epoch()) + " of " + id);
      known = claim.epoch();
    }
  }

  void onSent(Seat& at) override { known_[at].spokenAs = at.replica().ownerName(); }

 private:
  // A device that hears of its own retirement, or is shown that its disk went back, writes under another name.
  void checkRenamed(Seat& at) {
    replication::LocalReplica& data = at.replica().data();
    const auto members = data.membership();
    const auto incidents = data.incidents();
    if (!members.ok() || !incidents.ok()) return c_.failed("store", at.name() + ": its members cannot be read");
    const std::size_t shown = std::ranges::count(*incidents, "rolledBack", &replication::Incident::kind);
    const bool wasShown = shown > std::exchange(shown_[at], shown);
    const std::string cluster =
        replication::LocalReplica::spaceId(replication::DatabaseName::agents, replication::kClusterScope);
    if (members->standing(at.name()) == replication::Standing::retired)
      checkRestored(at, "hears that it is retired", cluster), c_.probe("hears of its own retirement");
    else if (wasShown)
      checkRestored(at, "is shown that its disk went back"), c_.probe("is shown that its disk went back");
  }

  // Who knows durably that it is retired writes no more as what it was: others have its last word.
  void checkGone(Seat& at, const std::string& writer) {
    std::string& before = before_[at];
    if (at.retired || at.lingers || at.readmitted > 0) {  // of its admission it may not have heard
      const auto members = at.replica().data().membership();
      if (!members.ok()) return c_.failed("store", at.name() + ": its members cannot be read");
      if (members->standing(at.name()) == replication::Standing::retired) {
        if (before == writer)
          c_.failed("restart", concat(at.name(), " knows that it is retired, and goes on as ", writer));
        return;
      }
    }
    if (before != writer) before = writer;
  }

  void checkRestored(Seat& at, std::string_view how, std::string_view but = {}) {
    replication::LocalReplica& data = at.replica().data();
    for (const std::string& id : data.spaceIds())
      if (id != but && !data.restored(id) && !data.findSpace(id)->clock().entries().empty())
        return c_.failed("restart", concat(at.name(), " ", how, ", writes as ", data.writer(),
                                           ", and takes what it has of ", id, " for what it had"));
  }

  struct Known {
    std::string spokenAs;                                      // its name as an owner that others have heard
    std::map<std::string, kernel::Epoch, std::less<>> claims;  // of which it has heard durably
  };
  PerDevice<Known> known_;
  PerDevice<std::set<std::string>> writers_;  // names under which a device has written
  PerDevice<std::size_t> shown_;              // incidents that say that its disk went back
  PerDevice<std::string> before_;             // its name as a writer, as long as it does not know that it is retired
};

// Part of checker "fences". A device that knows that its epoch is over decides nothing more in it, and takes nothing
// more of another's that is over; one that begins an epoch counts on from the last one that it knows.
class FenceChecker final : public Checker {
 public:
  explicit FenceChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { known_[at] = {}; }

  // Another part: who was shown more of its own epoch than it has itself (its disk went back) decides nothing more in
  // it, nor after a restart.
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    auto standing = standingIn(at, peer, frame);
    if (!standing) return;
    const std::string& self = at.replica().ownerName();
    for (const node::LogPosition& position : standing->positions)
      if (!position.epochs.empty() && position.epochs.back().owner == self)
        known_[at].shown.push_back({peer, position.partition, {position.epochs.back().number, self}, position.batches});
  }

  void onDurable(Seat& at) override {
    checkFenced(at);
    checkShown(at);
    for (const auto& [id, epoch] : stopped_[at])
      if (node::PartitionHost* host = at.replica().host(id);
          host != nullptr && host->epoch() == epoch && at.replica().owns(*host))
        return c_.failed("fences", concat(at.name(), " decides again for ", id, " in ", nameOf(epoch),
                                          ", and was shown more of that epoch than it had"));
  }
  void onDiskLost(Seat& at) override { stopped_[at].clear(); }

 private:
  // A partition whose log here ends in an epoch that this device knows to be over: when it was looked at, how long the
  // log was, how many batches of others had been taken and epochs begun, and where the later epoch begins.
  struct Fence {
    std::uint64_t batches = 0, followed = 0, begun = 0;
    kernel::Epoch last;
    std::uint64_t begins = 0;
    kernel::Epoch later;
  };
  // What a peer has said that it has of an epoch of this device.
  struct Shown {
    std::uint32_t peer = 0;
    std::string partition;
    kernel::Epoch epoch;
    std::uint64_t batches = 0;
  };
  struct Known {
    std::map<std::string, Fence, std::less<>> fenced;
    std::vector<Shown> shown;  // in the step that is being made
  };

  // Part of checker "fences". Who knows that its epoch is over decides nothing more in it (unless its disk went back:
  // it may have to learn its own entries from others); who knows that another's is over takes nothing more of it; and
  // who begins an epoch counts on from the last one of which it has heard.
  void checkFenced(Seat& at) {
    const node::Replica& replica = at.replica();
    const node::ReplicaCounters& counters = replica.counters();
    const std::string& name = at.name();
    const bool whole =
        std::ranges::none_of(c_.history().losses(), [&](const DiskLoss& loss) { return loss.device == at.index(); });
    auto& fenced = known_[at].fenced;
    for (const auto& [id, host] : replica.hosts()) {
      const node::OwnershipRecord* claim = replica.owners().find(id);
      const kernel::Epoch last = host->epoch();
      const auto fence = fenced.find(id);
      const bool known = fence != fenced.end(), mine = last.owner == replica.ownerName();
      const std::uint64_t begun = counters.handovers + counters.seizures;
      if (known && mine && whole && !c_.etcd() && begun != fence->second.begun &&
          last.number > fence->second.last.number && last.number <= fence->second.later.number)
        return c_.failed("fences", name + " begins " + nameOf(last) + " of " + id + " although it knows of " +
                                       nameOf(fence->second.later));
      if (claim == nullptr || std::tie(claim->number, claim->owner) <= std::tie(last.number, last.owner)) {
        if (known) fenced.erase(fence);
        continue;
      }
      const Fence now{host->ledger().batches(), counters.batchesFollowed, begun, last, claim->batches, claim->epoch()};
      const Fence before = known ? std::exchange(fence->second, now) : now;
      if (!known) fenced.emplace(id, now);
      if (now.batches <= before.batches) continue;
      const std::string knows =
          concat(" although it knows of ", nameOf(before.later), ", which begins with batch ", before.begins);
      // Of a later epoch still it may have heard in this very step: what that one stands on is not over.
      const std::uint64_t begins = before.later < now.later ? now.begins : before.begins;
      if (!mine && !c_.etcd() && last < before.later && now.batches > begins)
        return c_.failed("fences",
                         concat(name, " takes batch ", now.batches - 1, " of ", id, " in ", nameOf(last), knows));
      if (mine && whole && now.followed == before.followed)
        return c_.failed("fences", name + " goes on deciding for " + id + " in " + nameOf(last) + knows);
    }
  }

  void checkShown(Seat& at) {
    for (const Shown& shown : std::exchange(known_[at].shown, {})) {
      node::PartitionHost* host = at.replica().host(shown.partition);
      if (host == nullptr || host->epoch() != shown.epoch || host->ledger().batches() >= shown.batches) continue;
      if (!at.replica().owns(*host)) {
        stopped_[at][shown.partition] = shown.epoch;
        continue;
      }
      const std::string peer = ClusterSetup::deviceName(shown.peer);
      const bool ended = std::ranges::any_of(at.held.sends, [&](const node::Outgoing& send) {
        return send.peer == peer && send.close;  // it did not take this from it
      });
      if (ended) continue;
      return c_.failed("fences", concat(at.name(), " goes on deciding for ", shown.partition, " in ",
                                        nameOf(shown.epoch), ", of which it has ", host->ledger().batches(),
                                        " batches, although ", peer, " has shown it ", shown.batches));
    }
  }

  PerDevice<Known> known_;
  PerDevice<std::map<std::string, kernel::Epoch>> stopped_;  // by partition
};

// Part of checker "fences": a log in etcd has no gap at any moment. Behind one stands what no next owner knows of, and
// who becomes that begins in it. And of checker "no-decision-lost": of what etcd lets go enough disks have a copy.
class EtcdChecker final : public Checker {
 public:
  explicit EtcdChecker(Cluster& cluster) : Checker(cluster) {}

  void onEtcdTransaction(const node::EtcdRequest& request) override {
    for (const node::EtcdOp& op : request.then) {
      if (op.act != node::EtcdAct::put) continue;
      if (const std::string gap = gapBefore(c_.etcd()->model(), op.keys.key); !gap.empty())
        return c_.failed("fences", gap);
      const std::string early = letsGoTooEarly(op, c_.setup().etcdCopies(), [&](const std::string& partition) {
        c_.probe("etcd lets go of batches");
        return batchesOnDisks(partition);
      });
      if (!early.empty()) return c_.failed("no-decision-lost", early);
    }
  }

  void onDiskLost(Seat& at) override {
    if (!c_.etcd()) return;
    for (const auto& [module, id] : c_.partitions()) {
      std::uint64_t& lost = lost_[at][id];
      lost = std::max(lost, batchesOnDisk(at, id));
    }
  }

 private:
  std::uint64_t batchesOnDisk(Seat& at, const std::string& partition) {
    if (at.running())
      if (const node::PartitionHost* host = at.replica().host(partition)) return host->durableBatches();
    std::uint64_t batches = 0;
    const Status scanned = at.device->disk(2).scan("p/" + partition + "/l", {},
                                                   [&](std::string_view, std::string_view) { return ++batches, true; });
    if (!scanned.ok()) c_.trace(at.index(), "check", "a log is unreadable", scanned.error().message);
    return batches;
  }

  // Of each device. One whose disk was lost or went back may have said what was true until then.
  std::vector<std::uint64_t> batchesOnDisks(const std::string& partition) {
    std::vector<std::uint64_t> held;
    for (auto& at : c_.seats()) {
      const auto before = lost_[*at].find(partition);
      held.push_back(std::max(batchesOnDisk(*at, partition), before == lost_[*at].end() ? 0 : before->second));
    }
    return held;
  }

  PerDevice<std::map<std::string, std::uint64_t, std::less<>>> lost_;  // by partition: most that a lost disk had
};

// Checker "copies": a copy knows which invariants an unsafe commit left violated, and nothing else: its owner looks at
// them again with the next proposal (F8), whichever device that is then. Looked at when a copy was read or has become
// its owner's.
class CopiesChecker final : public Checker {
 public:
  explicit CopiesChecker(Cluster& cluster) : Checker(cluster) {}

  void onStarted(Seat& at) override {
    for (const auto& [id, host] : at.replica().hosts())
      for (const std::string& entity : host->partition().entities()) {
        const kernel::EntityState& state = *host->partition().state(entity);
        const std::vector<kernel::Verdict> verdicts = host->module().walk(state);
        std::uint64_t violated = 0;
        for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
          if (!verdicts[i].passed()) violated |= std::uint64_t{1} << i;
        if (violated != 0) c_.probe("violated after an unsafe commit");
        if (violated == state.notPassing) continue;
        std::string names;
        for (std::size_t i = 0; i < verdicts.size() && i < 64; ++i)
          if ((violated ^ state.notPassing) >> i & 1) names += " " + host->module().signature().invariants[i].id;
        return c_.failed("copies", at.name() + "'s copy of " + id + " is wrong about which invariants " + entity +
                                       " violates:" + names);
      }
  }

  void onDurable(Seat& at) override {
    const node::ReplicaCounters& counters = at.replica().counters();
    const std::uint64_t begun = counters.handovers + counters.seizures;
    if (std::exchange(epochsBegun_[at], begun) != begun) onStarted(at);
  }

  void atEnd() override {
    for (Seat* at : c_.members())
      if (!c_.hasFailed()) onStarted(*at);
  }

 private:
  PerDevice<std::uint64_t> epochsBegun_;
};

}  // namespace

std::unique_ptr<Checker> makeRestartChecker(Cluster& c) { return std::make_unique<RestartChecker>(c); }
std::unique_ptr<Checker> makeFenceChecker(Cluster& c) { return std::make_unique<FenceChecker>(c); }
std::unique_ptr<Checker> makeEtcdChecker(Cluster& c) { return std::make_unique<EtcdChecker>(c); }
std::unique_ptr<Checker> makeCopiesChecker(Cluster& c) { return std::make_unique<CopiesChecker>(c); }

}  // namespace witan::sim
