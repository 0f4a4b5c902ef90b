// The checkers of requests: a device answers each, and puts none off that it can decide.
#include <algorithm>

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

}  // namespace

std::unique_ptr<Checker> makePutOffChecker(Cluster& c) { return std::make_unique<PutOffChecker>(c); }
std::unique_ptr<Checker> makeRequestChecker(Cluster& c) { return std::make_unique<RequestChecker>(c); }

}  // namespace witan::sim
