// The checkers of requests: a device answers each, and puts none off that it can decide.
#include <algorithm>

#include "replica/core/owner_table.h"
#include "replication/writer.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

// Part of checker "liveness": what a device decides itself it does not put off as if there were no way to the owner.
class PutOffChecker final : public Checker {
 public:
  explicit PutOffChecker(Cluster& cluster)
      : Checker(cluster),
        every_(std::max<Micros>(120 * kSecond, cluster.plan().options.time.seconds * kSecond / 1'000)) {}

  void onDurable(Seat& at) override {
    node::Replica& replica = at.replica();
    if (replica.outbox().size() == 0 || c_.agenda().now() < next_[at]) return;
    next_[at] = c_.agenda().now() + every_;
    // Most devices own nothing, and may put off hundreds for days.
    if (std::ranges::none_of(replica.hosts(), [&](const auto& one) { return replica.owns(*one.second); })) return;
    const std::int64_t latest = at.device->now(c_.agenda().now()).ms + node::kLastRetryMs;
    for (const auto& [id, waiting] : replica.outbox().all()) {
      if (waiting.dueMs <= latest) continue;
      const std::string partition = replica.partitionFor(waiting.request.domain, waiting.request.entity);
      const node::PartitionHost* host = replica.host(partition);
      if (host != nullptr && replica.owns(*host))
        return c_.failed("liveness",
                         concat(at.name(), " owns ", partition, " and puts off its own request ", id, " for ",
                                (waiting.dueMs - latest) / 1000 + node::kLastRetryMs / 1000, " s"));
    }
  }

 private:
  const Micros every_;  // it is put off for node::kParkMs; in a run of a month the look costs more than it finds
  PerDevice<Micros> next_;
};

// Part of checker "liveness": what waits for a counselor ends with its time, also if no request asks for it. Seen at
// looks in a row, between which its owner has been at work.
class OverdueChecker final : public Checker {
 public:
  explicit OverdueChecker(Cluster& cluster)
      : Checker(cluster),
        ttl_(cluster.plan().options.cluster.pendingTtlSeconds * kSecond),
        every_(std::max<Micros>(5 * kSecond, cluster.plan().options.time.seconds * kSecond / 1'000)) {}

  void onStopped(Seat& at) override { overdue_[at].clear(); }

  void onDurable(Seat& at) override {
    const Micros now = c_.agenda().now();
    if (ttl_ <= 0 || now < next_[at] || c_.etcd() != nullptr) return;
    next_[at] = now + every_;
    const auto before = std::exchange(overdue_[at], {});
    const Micros wall = at.device->now(now).wall.micros;
    for (const auto& [id, host] : at.replica().hosts()) {
      if (!at.replica().owns(*host)) continue;
      for (const kernel::PendingView& view : host->partition().queue()) {
        if (wall - view.at.micros <= ttl_ + every_) continue;
        const auto seen = before.find({id, view.seq});
        const Micros since = seen == before.end() ? wall : seen->second;
        if (wall - since >= kPatience)
          return c_.failed("liveness", concat(at.name(), " owns ", id, ", and entry ", view.seq,
                                              " still waits for a counselor, whose time is over"));
        overdue_[at].emplace(std::pair(id, view.seq), since);
      }
    }
  }

 private:
  static constexpr Micros kPatience = 15 * kSecond;  // an owner that has just started looks after ten
  const Micros ttl_, every_;
  PerDevice<Micros> next_;
  PerDevice<std::map<std::pair<std::string, std::uint64_t>, Micros>> overdue_;  // since when, by whose clock
};

// Checker "no-request-lost": whatever a device had taken on, for good or while it ran, was answered.
class RequestChecker final : public Checker {
 public:
  explicit RequestChecker(Cluster& cluster) : Checker(cluster) {}

  void atEnd() override {
    for (const RequestRecord& request : c_.history().requests()) {
      if (request.outlasts && request.returned && request.answer.kind == node::AnswerKind::frozen)
        return c_.failed("no-request-lost", ClusterSetup::deviceName(request.device) + " had taken on " +
                                                request.request.operationId +
                                                ", and was done with it when it heard that a proposal is pending");
      if (request.inOutbox && !request.returned && !request.answerLost && !request.mayBeLost)
        return c_.failed("no-request-lost", ClusterSetup::deviceName(request.device) + " had taken on " +
                                                request.request.operationId + (request.accepted ? " durably" : "") +
                                                ", nothing waits any more, and it was never answered");
    }
  }
};

// Part of checker "liveness": what a device has, those that have been connected with it and at work for a while have
// soon. Without this a path that does nothing is hidden by the next one: what was not sent is found once a minute.
constexpr Micros kLook = 10 * kSecond;
constexpr unsigned kLooks = 4;  // in a row, until what stood at the first must be everywhere

std::string firstMissing(const replication::VectorClock& of, const replication::VectorClock& has) {
  for (const auto& [host, counter] : of.entries())
    if (has.at(host) < counter) return concat("it has ", has.at(host), " of ", counter, " commits of ", host);
  return {};
}

// How many batches of a log stand, as far as a device knows the claims of later epochs: each begins where it ends the
// log before it, back to an epoch that both logs have. 0: a claim between them is not known.
std::uint64_t standingBatches(const node::EpochHistory& log, const std::string& id, const node::OwnerTable& known) {
  const node::OwnershipRecord* claim = known.find(id);
  if (claim == nullptr || claim->epoch() <= log.last()) return log.batches;
  const auto epochOf = [](const node::EpochMark& mark) { return kernel::Epoch{mark.number, mark.owner}; };
  std::uint64_t batches = log.batches;
  for (; claim != nullptr; claim = known.find(id, claim->previous())) {
    batches = std::min(batches, claim->batches);
    const auto next = std::ranges::upper_bound(log.epochs, claim->previous(), {}, epochOf);
    if (next == log.epochs.begin() || epochOf(*std::prev(next)) != claim->previous()) continue;
    return next == log.epochs.end() ? batches : std::min(batches, next->start);
  }
  return 0;
}

class PromptChecker final : public Checker {
 public:
  explicit PromptChecker(Cluster& cluster) : Checker(cluster), quick_(isQuick(cluster.plan().options)) {}

  void onStopped(Seat& at) override { forget(at.index()); }
  void onLink(std::uint32_t device, std::uint32_t peer) override { since_[{device, peer}] = 0; }

  void onDurable(Seat&) override {
    const Micros now = c_.agenda().now();
    if (!quick_ || now < lookAt_) return;
    // Time may have gone by without a step.
    if (now - lookAt_ > kLook) since_.clear();
    lookAt_ = now + kLook;
    for (Seat* at : c_.members()) look(*at);
    for (Seat* from : c_.members())
      for (Seat* to : c_.members())
        if (from != to && !c_.hasFailed()) compare(*from, *to);
  }

 private:
  struct Shown {
    std::map<std::string, replication::VectorClock> spaces;
    std::map<std::string, node::EpochHistory> owned;  // by partition; what is durable
  };

  // A network and disks that need no patience.
  static bool isQuick(const Options& o) {
    const NetworkOptions& n = o.network;
    return n.lossPerMillion == 0 && n.duplicatePerMillion == 0 && n.reorderPerMillion == 0 && n.resetPerMillion == 0 &&
           n.bytesPerSecond == 0 && n.chords == 0 && n.delayMinMicros + n.delayMeanMicros <= 100'000 &&
           o.disk.syncMicros <= 1'000 && o.time.driftPpm <= 1'000 && o.time.seconds <= 3'600 && o.cluster.liar == 0;
  }

  void forget(std::uint32_t device) {
    std::erase_if(since_, [&](const auto& one) { return one.first.first == device || one.first.second == device; });
  }

  void look(Seat& at) {
    std::deque<Shown>& shown = shown_[at];
    shown.emplace_back();
    if (shown.size() > kLooks) shown.pop_front();
    if (!at.works()) return forget(at.index());
    replication::LocalReplica& data = at.replica().data();
    for (const std::string& id : data.spaceIds()) shown.back().spaces.emplace(id, data.findSpace(id)->clock());
    for (const auto& [id, host] : at.replica().hosts())
      if (at.replica().owns(*host)) shown.back().owned[id] = {host->lineage().epochs, host->durableBatches()};
  }

  bool sees(Seat& from, Seat& to) {
    const auto full = [](Seat& one, Seat& other) {
      const replication::SyncSession* session = one.replica().session(other.name());
      return session != nullptr && session->full();
    };
    return from.works() && to.works() && !from.device->slow() && !to.device->slow() &&
           !c_.network().isBlocked(from.index(), to.index()) && !c_.network().isBlocked(to.index(), from.index()) &&
           c_.network().connected(from.index(), to.index()) && full(from, to) && full(to, from);
  }

  void compare(Seat& from, Seat& to) {
    unsigned& looks = since_[{from.index(), to.index()}];
    looks = sees(from, to) ? looks + 1 : 0;
    if (looks < kLooks || !c_.history().losses().empty()) return;
    const Shown& before = shown_[from].front();
    const std::string what = concat(to.name(), ", which is connected with ", from.name(),
                                    ", does not have what that had ", (kLooks - 1) * kLook / kSecond, " s ago of ");
    replication::LocalReplica& data = to.replica().data();
    for (const auto& [id, clock] : before.spaces)
      if (replication::Space* space = data.findSpace(id); space != nullptr && !le(clock, space->clock()))
        return c_.failed("liveness", concat(what, id, ": ", firstMissing(clock, space->clock())));
    for (const auto& [id, owned] : before.owned) {
      const node::PartitionHost* host = to.replica().host(id);
      if (host != nullptr && host->epoch() <= owned.last() && !asksAnother(to, from, id, owned.last()) &&
          host->durableBatches() < standingBatches(owned, id, to.replica().owners()))
        return c_.failed("liveness", what + id);
    }
    c_.probe("looked for what is late");
  }

  // It knows that the epoch is over, and asks the later owner alone as long as it holds a link with it, also one that
  // is dead and does not show it yet. Whether that owner is prompt is seen between those two.
  static bool asksAnother(Seat& at, Seat& from, const std::string& id, const kernel::Epoch& epoch) {
    const node::OwnershipRecord* claim = at.replica().owners().find(id);
    if (claim == nullptr || claim->epoch() <= epoch) return false;
    const std::string_view owner = replication::deviceOf(claim->owner);
    return owner != from.name() && at.replica().isConnected(owner);
  }

  const bool quick_;
  Micros lookAt_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> since_;  // looks at which one saw the other, in a row
  PerDevice<std::deque<Shown>> shown_;
};

}  // namespace

std::unique_ptr<Checker> makePutOffChecker(Cluster& c) { return std::make_unique<PutOffChecker>(c); }
std::unique_ptr<Checker> makeOverdueChecker(Cluster& c) { return std::make_unique<OverdueChecker>(c); }
std::unique_ptr<Checker> makePromptChecker(Cluster& c) { return std::make_unique<PromptChecker>(c); }
std::unique_ptr<Checker> makeRequestChecker(Cluster& c) { return std::make_unique<RequestChecker>(c); }

}  // namespace witan::sim
