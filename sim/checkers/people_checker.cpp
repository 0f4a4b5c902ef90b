// The checkers of what people say to agents: it counts, by any of them and whenever it arrives.
#include "agents/host/agent_host.h"
#include "replication/writer.h"
#include "saga/saga_rows.h"
#include "sim/checkers/checker.h"

namespace witan::sim {

using namespace replication;

namespace {

// Parts of the checkers "need-to-know" and "sagas".
class PeopleChecker final : public Checker {
 public:
  explicit PeopleChecker(Cluster& cluster) : Checker(cluster) {}

  void onStopped(Seat& at) override {
    at.givesUp.clear(), at.approvedAsleep.clear(), heard_[at].clear();
    looked_[at] = false;
  }
  void onDiskLost(Seat& at) override { givenUp_[at].clear(); }

  // What was done at another device's order is durable with the device's own next step.
  void onDurable(Seat& at) override {
    givenUp_[at].merge(std::exchange(at.givesUp, {}));
    hear(at);
    std::erase_if(at.approvedAsleep, [&](const auto& one) { return !isPaused(at, one.second); });
  }

  // Of an approval and a denial that came together the denial counts; and what was approved for an agent that is paused
  // waits until it is resumed.
  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (call.operation && at.approvedAsleep.contains(*call.operation))
      return c_.failed("need-to-know", concat(at.name(), " calls ", call.tool, " under operation ", name, ", and ",
                                              call.agentId, " was paused before somebody approved it"));
    if (!call.operation || !denied_[at].contains(*call.operation)) return;
    if (c_.history().agents.approved[*call.operation].size() == 1)  // else somebody approved it once more
      c_.failed("need-to-know", concat(at.name(), " calls ", call.tool, " under operation ", name,
                                       ", which one person has denied while another approved it"));
  }

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
  void hear(Seat& at) {
    const bool looked = std::exchange(looked_[at], true);
    const auto& split = at.splits;
    if (split.empty() || std::as_const(at.replica()).agents() == nullptr) return;
    const Space* space = at.replica().data().findSpace("agents/main");
    if (space == nullptr) return;
    std::vector<bool>& heard = heard_[at];
    heard.resize(split.size());
    for (std::size_t n = 0; n < split.size(); ++n) {
      if (heard[n]) continue;
      const bool yes = covers(*space, split[n].yes), no = covers(*space, split[n].no);
      if (!yes && !no) continue;
      heard[n] = true;
      const auto& approved = c_.history().agents.approved[split[n].operation];
      if (!yes || !no || !looked || approved.size() != 1) continue;
      denied_[at].insert(split[n].operation);
      c_.probe("approved and denied at once");
    }
  }
  bool isPaused(Seat& at, const std::string& agent) {
    Space* records = at.replica().data().findSpace("agents/main");
    if (records == nullptr) return false;
    const auto lifecycle = agents::lifecycleIn(*records, agent);
    if (lifecycle.ok() && *lifecycle == Lifecycle::dormant) c_.probe("approved while its agent is paused");
    return lifecycle.ok() && *lifecycle == Lifecycle::dormant;
  }
  static bool covers(const Space& space, const Dot& dot) {
    const auto writer = space.writers().find(dot.host);
    return writer && space.vector().at(*writer) >= dot.counter;
  }

  PerDevice<std::set<OperationId>> givenUp_;  // by a person, durably
  PerDevice<std::vector<bool>> heard_;        // of Seat::splits, what has come
  PerDevice<bool> looked_;                    // in this life
  PerDevice<std::set<OperationId>> denied_;
};

}  // namespace

std::unique_ptr<Checker> makePeopleChecker(Cluster& cluster) { return std::make_unique<PeopleChecker>(cluster); }

}  // namespace witan::sim
