// Part of checker "liveness": what a device decides itself it does not put off as if there were no way to the owner.
#include <algorithm>

#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

class PutOffChecker final : public Checker {
 public:
  explicit PutOffChecker(Cluster& cluster) : Checker(cluster) {}

  void onDurable(Seat& at) override {
    node::Replica& replica = at.replica();
    // Most devices own nothing, and may put off hundreds for days.
    const auto owned = [&](const auto& one) { return replica.owns(*one.second); };
    if (replica.outbox().size() == 0 || std::ranges::none_of(replica.hosts(), owned)) return;
    const std::int64_t latest = at.device->now(c_.agenda().now()).ms + node::kLastRetryMs;
    for (const auto& [id, waiting] : replica.outbox().all()) {
      if (waiting.dueMs <= latest) continue;
      const std::string partition = replica.partitionFor(waiting.request.domain, waiting.request.entity);
      const node::PartitionHost* host = replica.host(partition);
      if (host != nullptr && replica.owns(*host))
        return c_.failed("liveness",
                         at.name() + " owns " + partition + " and puts off its own request " + id + " for " +
                             std::to_string((waiting.dueMs - latest) / 1000 + node::kLastRetryMs / 1000) + " s");
    }
  }
};

}  // namespace

std::unique_ptr<Checker> makePutOffChecker(Cluster& cluster) { return std::make_unique<PutOffChecker>(cluster); }

}  // namespace witan::sim
