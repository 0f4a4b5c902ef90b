// Part of checker "sagas": what people decide about the work of agents counts.
#include "saga/saga_rows.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

using namespace replication;

namespace {

class PeopleChecker final : public Checker {
 public:
  explicit PeopleChecker(Cluster& cluster) : Checker(cluster) {}

  void onStopped(Seat& at) override { at.givesUp.clear(); }
  void onDiskLost(Seat& at) override { givenUp_[at].clear(); }

  // What was done at another device's order is durable with the device's own next step.
  void onDurable(Seat& at) override { givenUp_[at].merge(std::exchange(at.givesUp, {})); }

  // What a person has given up waits for nobody any more, once that is on record.
  void atEnd() override {
    for (Seat* at : c_.members()) {
      Space* records = at->replica().data().findSpace("agents/main");
      if (records == nullptr) continue;
      saga::SagaRows rows(at->replica().data().database(DatabaseName::agents), 0);
      std::string left;
      const Status read = rows.visitHeld([&](saga::SagaRow&& row) {
        const std::string id = row.id().hex();
        if (givenUp_[*at].contains(row.id()) && records->table().find(Kind::operation, id) != nullptr) left = id;
      });
      if (!read.ok()) return c_.failed("store", at->name() + ": " + read.error().message);
      if (!left.empty())
        return c_.failed("sagas",
                         concat(at->name(), " lists operation ", left, " as put aside, which a person has given up"));
    }
  }

 private:
  PerDevice<std::set<OperationId>> givenUp_;  // by a person, durably
};

}  // namespace

std::unique_ptr<Checker> makePeopleChecker(Cluster& cluster) { return std::make_unique<PeopleChecker>(cluster); }

}  // namespace witan::sim
