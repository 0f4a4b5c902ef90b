// Checker "absurd": what cannot be true is not taken in, and who says it is not listened to any more.
#include "replication/sync_session.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

// Who gets a claim or a position of an epoch that cannot be ends the connection.
class AbsurdChecker final : public Checker {
 public:
  explicit AbsurdChecker(Cluster& cluster) : Checker(cluster) {}
  void onStarted(Seat& at) override { heard_[at].clear(), relinked_[at].clear(); }
  void onLink(std::uint32_t device, std::uint32_t peer) override { relinked_[c_.seat(device)].insert(peer); }

  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    if (c_.isLiar(peer)) return;  // checker "lies" is about that one
    // The connection has ended already, and another one waits behind the frame.
    if (relinked_[at].contains(peer)) return;
    const auto from = at.absurd.find(peer);
    if (from == at.absurd.end() || !from->second.contains(frame)) return;
    const replication::SyncSession* session = at.replica().session(ClusterSetup::deviceName(peer));
    // What keeps encrypted copies has no ledgers, and hears nothing of them.
    if (session == nullptr || !session->full() || keepsCopies(at) || keepsCopies(c_.seat(peer))) return;
    if (hasNoLogs(peer) && !claims(frame)) return;
    heard_[at].insert(peer);
  }

  void onDurable(Seat& at) override {
    relinked_[at].clear();
    for (const std::uint32_t peer : std::exchange(heard_[at], {})) {
      c_.probe("absurd frame heard");
      const std::string name = ClusterSetup::deviceName(peer);
      const bool ends =
          std::ranges::any_of(at.held.sends, [&](const node::Outgoing& one) { return one.peer == name && one.close; });
      if (!ends && at.replica().session(name) != nullptr)
        return c_.failed("absurd", concat(at.name(), " goes on with ", name, ", which has told it of what cannot be"));
    }
  }

 private:
  // By the roster, which such a cluster has: what it says of logs is not read, and what it claims is.
  bool hasNoLogs(std::uint32_t peer) const {
    const ClusterOptions& cluster = c_.setup().options.cluster;
    return hasKeys(cluster) && static_cast<std::int64_t>(peer) >= cluster.ledgerReplicas;
  }
  static bool claims(std::string_view frame) {
    const auto standing = standingIn(frame);
    return standing && !standing->claims.empty();
  }
  bool keepsCopies(const Seat& at) const { return c_.setup().copiesOnly(at.name()); }

  PerDevice<std::set<std::uint32_t>> heard_;     // whose connections are to end with this step
  PerDevice<std::set<std::uint32_t>> relinked_;  // whose connections are new since the last step
};

}  // namespace

std::unique_ptr<Checker> makeAbsurdChecker(Cluster& cluster) { return std::make_unique<AbsurdChecker>(cluster); }

}  // namespace witan::sim
