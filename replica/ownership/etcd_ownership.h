// EtcdOwnership: etcd names the owners and holds the tail of each log (etcd_engine.h). No operator moves a partition,
// and no log diverges.
//
// Requests for partitions that this device owns wait here while enough batches are under way; then they are decided
// together, of all partitions, and share a transaction: all of them, or of many a share of what waits and is under way,
// so that the next share is decided, and travels, while etcd works at this one. What this device's own people ask comes
// by way of the outbox, which keeps it until it is answered.
//
// No batch that etcd does not take gets to it: a request that is too large is refused, and so is one whose entry turns
// out to be; the copy, which had decided it, is opened again. What etcd takes is learned from what it refuses, for a
// while: its operator may raise it.
//
// See ownership_engine.h for who drives it.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replica/ownership/etcd_engine.h"
#include "replica/ownership/ownership_engine.h"

namespace witan::node {

// An owner that has not heard from etcd for so long rejects requests.
inline constexpr std::int64_t kEtcdSilenceMs = 10'000;

class EtcdOwnership final : public OwnershipEngine, EtcdCopies {
 public:
  // Requires: the state's copies are open, and its configuration has etcd.
  EtcdOwnership(ReplicaState& state, EpochListener& listener);

  std::string_view name() const override { return "etcd"; }
  std::uint64_t clusterId() const override { return clusterId_; }
  bool ownerHoldsLog() const override { return false; }
  bool needsPeers(std::string_view partition) const override { return engine_.needsPeers(partition); }
  void onEpochs(PartitionHost& host, std::size_t first) override;
  void onFollowed(PartitionHost&, Now) override {}
  void onReopened(Now now) override;
  Status checkSize(const Request& request) const override;
  // False: etcd has been out of reach for too long, or too many wait.
  bool decide(PartitionHost& host, const Request& request, const std::string& from, Now now) override;
  bool decidesAtOnce() const override { return false; }
  void stage() override {}  // batches go to etcd first
  std::int64_t syncWaitMs() const override;
  void decideQueued(Now now) override;
  Round finishRound(Now now) override;
  void tick(Now now) override;
  std::int64_t nextTickMs() const override;
  bool quiet() const override;
  void connected(Now now, std::uint64_t cluster) override;
  void disconnected() override;
  void received(const EtcdAnswer& answer, Now now) override;
  Status bootstrap(Now, const std::function<bool(std::string_view)>&) override { return operatorsDoNotDecide(); }
  Status transferOwnership(std::string_view, std::string_view, std::string_view, Now) override {
    return operatorsDoNotDecide();
  }
  Status forceTakeover(std::string_view, std::string_view, Now) override { return operatorsDoNotDecide(); }

 private:
  struct Waiting {
    Request request;
    std::string from;
    bool alone = false;  // it shares no batch
  };
  struct Under {
    store::WriteBatch rows;
    std::size_t requests = 0;
  };
  struct Owned {
    bool granted = false;      // the epoch is to begin
    bool undo = false;         // the open batch is too large: the copy is to be opened again
    bool shown = true;         // at the end of a round the copy was the log's, and nothing was decided since
    std::int64_t aheadMs = 0;  // when that was over
    std::size_t expireMost = ~std::size_t{0};    // with the next batch: one more made it too large
    std::size_t expired = 0;                     // with the open one
    std::uint64_t expiring = 0;                  // the escalation of the first of those
    std::map<std::uint64_t, std::size_t> stuck;  // escalations whose expiry etcd does not take, and its bytes
    std::int64_t lookMs = 0;                     // when there are such: the others are looked through again
    std::vector<Waiting> queue;
    std::set<std::string, std::less<>> queued;  // who asks and operation id
    std::deque<Under> under;                    // the batches that are being committed
  };
  bool serves(std::string_view partition) const override { return engine_.serves(partition); }
  // Requests wait, and the next decideQueued() takes some.
  bool hasWork() const;
  PartitionHost& host(const std::string& partition) { return *state_.partitions.find(partition); }
  std::uint64_t batches(const std::string& partition) const override;
  std::uint64_t durableBatches(const std::string& partition) const override;
  bool follow(const std::string& partition, const std::string& value) override;
  void onGranted(const std::string& partition) override;
  void onCommitted(const std::string& partition) override;
  void onLost(const std::string& partition, bool discard) override;
  void onTooLarge(const std::string& partition, std::size_t bytes) override;
  void share();
  void decideQueue(PartitionHost& host, Owned& owned, Now now);
  void begin(PartitionHost& host, Owned& owned, Now now);
  std::size_t decideSome(PartitionHost& host, Owned& owned, Now now);
  void undo(PartitionHost& host, Owned& owned, std::size_t last);
  bool mayCommit(const PartitionHost& host) const;
  bool rests(const PartitionHost& host, const Owned& owned, Now now);
  void commit(PartitionHost& host, Owned& owned, std::size_t requests, Now now);
  bool expire(PartitionHost& host, Owned& owned, Now now);
  void expireOthers(PartitionHost& host, Owned& owned, std::size_t most, Now now);
  void undoExpiry(PartitionHost& host, Owned& owned);
  void rejectQueued(Owned& owned);
  std::string stuckText(const PartitionHost& host, const Owned& owned, const std::string& entity) const;
  void tryLarger(std::int64_t nowMs);
  void reopen(const std::string& partition);
  std::string tooLargeText(std::string_view what, std::size_t bytes) const;

  const EtcdOptions options_;
  EtcdEngine engine_;
  std::uint64_t clusterId_ = 0;
  std::size_t limit_;         // bytes of a batch; what is larger is refused
  std::size_t usual_;         // batches of several requests are made for so many
  std::int64_t againMs_ = 0;  // when larger ones are tried again, if etcd has refused one
  std::map<std::string, Owned, std::less<>> owned_;
  std::vector<PartitionHost::Release> rejected_;  // of other devices: asked again
  std::vector<PartitionHost::Release> refused_;
  std::size_t share_ = 0;  // requests that this round may decide yet
  bool few_ = false;       // what waits is to wait for more, or for an answer
  bool again_ = false;     // a copy is to be opened again, or a share waits for the next round
};

}  // namespace witan::node
