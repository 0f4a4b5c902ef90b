// Parts of checker "liveness" about the overlay: updates cross links soon, and the overlay heals
// (sim/check/link_rules.h).
#include "replication/local_replica.h"
#include "sim/check/link_rules.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

constexpr Micros kLookEvery = 500'000;

bool isOpen(Cluster& c, const Seat& a, const Seat& b) {
  return a.works() && b.works() && !c.network().isBlocked(a.index(), b.index()) &&
         !c.network().isBlocked(b.index(), a.index());
}

class LateUpdateChecker final : public Checker {
 public:
  explicit LateUpdateChecker(Cluster& cluster) : Checker(cluster), quick_(isQuick(cluster.plan().options)) {}

  void onStopped(Seat& at) override { rules_.stopped(at.index()), seen_[at].clear(); }
  void onLink(std::uint32_t device, std::uint32_t peer) override { rules_.linkedAnew({device, peer}); }

  void onDurable(Seat& at) override {
    if (!quick_ || !c_.history().losses().empty()) return;
    const Micros now = c_.agenda().now();
    note(at, now);
    if (now < lookAt_) return;
    lookAt_ = now + kLookEvery;
    for (Seat* from : c_.members())
      for (Seat* to : c_.members())
        if (from != to) rules_.sees({from->index(), to->index()}, sees(*from, *to), now);
    if (const std::string wrong = rules_.late(now); !wrong.empty()) c_.failed("liveness", wrong);
    if (rules_.judged() > 0) c_.probe("looked for a late update");
  }

 private:
  static bool isQuick(const Options& o) {
    const NetworkOptions& n = o.network;
    return n.lossPerMillion == 0 && n.duplicatePerMillion == 0 && n.reorderPerMillion == 0 && n.resetPerMillion == 0 &&
           n.bytesPerSecond == 0 && n.chords == 0 && n.delayMinMicros + n.delayMeanMicros <= 25'000 &&
           o.disk.syncMicros <= 1'000 && o.time.driftPpm <= 1'000 && o.time.seconds <= 3'600 && o.cluster.liar == 0;
  }

  void note(Seat& at, Micros now) {
    replication::LocalReplica& data = at.replica().data();
    for (const std::string& id : data.spaceIds()) {
      const replication::Space& space = *data.findSpace(id);
      std::vector<std::uint64_t>& seen = seen_[at][id];
      for (replication::WriterIndex writer = 0; writer < space.vector().end(); ++writer) {
        if (writer >= seen.size()) seen.resize(writer + 1);
        const std::uint64_t commits = space.vector().at(writer);
        if (std::exchange(seen[writer], commits) != commits)
          rules_.has(at.index(), id, space.writers().name(writer), commits, now);
      }
    }
  }

  bool sees(Seat& from, Seat& to) {
    const auto full = [](Seat& one, Seat& other) {
      const replication::SyncSession* session = one.replica().session(other.name());
      return session != nullptr && session->full();
    };
    return c_.network().connected(from.index(), to.index()) && isOpen(c_, from, to) && !from.device->slow() &&
           !to.device->slow() && full(from, to) && full(to, from);
  }

  const bool quick_;
  Micros lookAt_ = 0;
  LateUpdates rules_;
  PerDevice<std::map<std::string, std::vector<std::uint64_t>>> seen_;  // of each space and writer
};

class OverlayChecker final : public Checker {
 public:
  explicit OverlayChecker(Cluster& cluster) : Checker(cluster), meshed_(cluster.plan().options.network.links > 0) {}

  void onStopped(Seat& at) override { few_.stopped(at.index()); }

  void onDurable(Seat&) override {
    const Micros now = c_.agenda().now();
    if (!meshed_ || now < lookAt_) return;
    lookAt_ = now + 2 * kLookEvery;
    const std::vector<Seat*> members = c_.members();
    if (members.size() < kMany) return;
    for (Seat* at : members) look(*at, members, now);
    if (const std::string wrong = same_.same(now); !wrong.empty()) c_.failed("liveness", wrong);
  }

 private:
  // Of fewer, new choices may all be old ones, and two neighbours in the ring with no third link are possible.
  static constexpr std::size_t kMany = 16;

  void look(Seat& at, const std::vector<Seat*>& members, Micros now) {
    if (!at.works()) return few_.stopped(at.index());
    std::set<std::uint32_t> links;
    for (Seat* other : members) {
      if (other == &at) continue;
      few_.reaches({at.index(), other->index()}, isOpen(c_, at, *other), now);
      if (!c_.network().connected(at.index(), other->index())) continue;
      links.insert(other->index());
      same_.linked({at.index(), other->index()}, now);
    }
    few_.links(at.index(), links, now);
    if (const std::string wrong = few_.tooFew(at.index(), now); !wrong.empty()) c_.failed("liveness", wrong);
  }

  const bool meshed_;
  Micros lookAt_ = 0;
  FewLinks few_;
  SameLinks same_;
};

}  // namespace

std::unique_ptr<Checker> makeLateUpdateChecker(Cluster& c) { return std::make_unique<LateUpdateChecker>(c); }
std::unique_ptr<Checker> makeOverlayChecker(Cluster& c) { return std::make_unique<OverlayChecker>(c); }

}  // namespace witan::sim
