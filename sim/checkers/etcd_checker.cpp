// Part of checker "fences": a log in etcd has no gap at any moment. Behind one stands what no next owner knows of, and
// who becomes that begins in it. And of checker "no-decision-lost": of what etcd lets go enough disks have a copy.
#include <algorithm>

#include "sim/checkers/checker.h"
#include "sim/etcd_model.h"

namespace witan::sim {

namespace {

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

}  // namespace

std::unique_ptr<Checker> makeEtcdChecker(Cluster& cluster) { return std::make_unique<EtcdChecker>(cluster); }

}  // namespace witan::sim
