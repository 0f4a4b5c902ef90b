// Checker "no-request-lost": whatever a device had taken on, for good or while it ran, was answered.
#include "sim/checkers/checker.h"

namespace witan::sim {

namespace {

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

std::unique_ptr<Checker> makeRequestChecker(Cluster& cluster) { return std::make_unique<RequestChecker>(cluster); }

}  // namespace witan::sim
