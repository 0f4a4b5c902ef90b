// Checker "restart": a device whose disk is whole starts as the one it was. It has the name as an owner that others
// have heard, and knows of every later epoch of which it had heard durably.
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

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
  }

  // a disk that is not what it was need not remember
  void onDiskLost(Seat& at) override { known_[at] = {}; }

  void onDurable(Seat& at) override {
    if (c_.etcd()) return;  // etcd names the owners
    for (const auto& [id, claim] : at.replica().owners().all()) {
      kernel::Epoch& known = known_[at].claims[id];
      if (!(known < claim.epoch())) continue;
      if (c_.tracing() && known.number > 0 && claim.owner != at.replica().ownerName())
        c_.trace(at.index(), "ledger", "hears", "of " + nameOf(claim.epoch()) + " of " + id);
      known = claim.epoch();
    }
  }

  void onSent(Seat& at) override { known_[at].spokenAs = at.replica().ownerName(); }

 private:
  struct Known {
    std::string spokenAs;                                      // its name as an owner that others have heard
    std::map<std::string, kernel::Epoch, std::less<>> claims;  // of which it has heard durably
  };
  PerDevice<Known> known_;
};

}  // namespace

std::unique_ptr<Checker> makeRestartChecker(Cluster& cluster) { return std::make_unique<RestartChecker>(cluster); }

}  // namespace witan::sim
