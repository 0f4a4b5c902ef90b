// Part of checker "fences". A device that knows that its epoch is over decides nothing more in it, and takes nothing
// more of another's that is over; one that begins an epoch counts on from the last one that it knows.
#include <algorithm>

#include "base/bytes.h"
#include "sim/check/operation.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class FenceChecker final : public Checker {
 public:
  explicit FenceChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { known_[at] = {}; }

  // Another part: who was shown more of its own epoch than it has itself (its disk went back) decides nothing more in
  // it.
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    constexpr auto kStanding = static_cast<std::uint8_t>(node::AdjudicationFrame::standing);
    if (c_.etcd() || frame.size() <= replication::kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kStanding)
      return;
    const replication::SyncSession* session = at.replica().session(ClusterSetup::deviceName(peer));
    if (session == nullptr || !session->full()) return;
    node::PeerAdvertisement standing;
    if (!readMessage(frame.substr(replication::kFrameHeaderBytes), standing, "frame").ok()) return;
    const std::string& self = at.replica().ownerName();
    for (const node::LogPosition& position : standing.positions)
      if (!position.epochs.empty() && position.epochs.back().owner == self)
        known_[at].shown.push_back({peer, position.partition, {position.epochs.back().number, self}, position.batches});
  }

  void onDurable(Seat& at) override {
    checkFenced(at);
    checkShown(at);
  }

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
    const bool whole = std::none_of(c_.history().losses().begin(), c_.history().losses().end(),
                                    [&](const DiskLoss& loss) { return loss.device == at.index(); });
    for (const auto& [id, host] : replica.hosts()) {
      const node::OwnershipRecord* claim = replica.owners().find(id);
      const kernel::Epoch last = host->epoch();
      const auto fence = known_[at].fenced.find(id);
      const bool known = fence != known_[at].fenced.end(), mine = last.owner == replica.ownerName();
      const std::uint64_t begun = counters.handovers + counters.seizures;
      if (known && mine && whole && !c_.etcd() && begun != fence->second.begun &&
          last.number > fence->second.last.number && last.number <= fence->second.later.number)
        return c_.failed("fences", name + " begins " + nameOf(last) + " of " + id + " although it knows of " +
                                       nameOf(fence->second.later));
      if (claim == nullptr || claim->epoch() <= last) {
        if (known) known_[at].fenced.erase(fence);
        continue;
      }
      const Fence now{host->ledger().batches(), counters.batchesFollowed, begun, last, claim->batches, claim->epoch()};
      const Fence before = known ? std::exchange(fence->second, now) : now;
      if (!known) known_[at].fenced.emplace(id, now);
      if (now.batches <= before.batches) continue;
      const std::string knows = " although it knows of " + nameOf(before.later) + ", which begins with batch " +
                                std::to_string(before.begins);
      // Of a later epoch still it may have heard in this very step: what that one stands on is not over.
      const std::uint64_t begins = before.later < now.later ? now.begins : before.begins;
      if (!mine && !c_.etcd() && last < before.later && now.batches > begins)
        return c_.failed("fences", name + " takes batch " + std::to_string(now.batches - 1) + " of " + id + " in " +
                                       nameOf(last) + knows);
      if (mine && whole && now.followed == before.followed)
        return c_.failed("fences", name + " goes on deciding for " + id + " in " + nameOf(last) + knows);
    }
  }

  void checkShown(Seat& at) {
    for (const Shown& shown : std::exchange(known_[at].shown, {})) {
      node::PartitionHost* host = at.replica().host(shown.partition);
      if (host == nullptr || !at.replica().owns(*host) || host->epoch() != shown.epoch) continue;
      if (host->ledger().batches() >= shown.batches) continue;
      const std::string peer = ClusterSetup::deviceName(shown.peer);
      const bool ended = std::any_of(at.held.sends.begin(), at.held.sends.end(), [&](const node::Outgoing& send) {
        return send.peer == peer && send.close;  // it did not take this from it
      });
      if (ended) continue;
      return c_.failed("fences", at.name() + " goes on deciding for " + shown.partition + " in " + nameOf(shown.epoch) +
                                     ", of which it has " + std::to_string(host->ledger().batches()) +
                                     " batches, although " + peer + " has shown it " + std::to_string(shown.batches));
    }
  }

  PerDevice<Known> known_;
};

}  // namespace

std::unique_ptr<Checker> makeFenceChecker(Cluster& cluster) { return std::make_unique<FenceChecker>(cluster); }

}  // namespace witan::sim
