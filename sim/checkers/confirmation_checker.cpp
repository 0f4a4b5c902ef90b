// Checker "need-to-know": agents send outside only fields of the allowlist, and mail only while a person's confirmation
// stands.
#include "agents/host/agent_host.h"
#include "sim/check/agent_rules.h"
#include "sim/checkers/checker.h"
#include "sim/sim_agents.h"

namespace witan::sim {

using namespace replication;

namespace {

class ConfirmationChecker final : public Checker {
 public:
  explicit ConfirmationChecker(Cluster& cluster) : Checker(cluster) {}
  void beforeDrain(Seat& at) override { watch(at); }  // as its agents find it
  void onDurable(Seat& at) override { watch(at); }
  void onToolAnswer(Seat& at, const ToolAnswer&) override { watch(at); }  // it may go, and come back, in one step

  void onToolCall(Seat& at, const agents::ToolCall& call, const std::string& name) override {
    if (const std::string told = checkNeedToKnow(call.tool, call.arguments); !told.empty())
      return c_.failed("need-to-know", at.name() + ": " + told);
    // Since before the run began nobody on this device could have let it.
    const auto begun = at.begun.find(call.run);
    if (call.tool == "sim.mail" && at.unconfirmedSince >= 0 && begun != at.begun.end() &&
        begun->second > at.unconfirmedSince)
      return c_.failed("need-to-know", at.name() + " lets operation " + name + " mail, and no confirmation stands");
  }

 private:
  void watch(Seat& at) {
    if (at.replica().agents() == nullptr) return;
    static const std::string kKey = receiptKey(simReceipt("somebody", 0));
    auto space = at.replica().data().database(DatabaseName::agents).space("main");
    auto versions = space.ok() ? (*space)->versions(Kind::receipt, kKey) : Result<std::vector<Version>>(space.error());
    if (!versions.ok()) return c_.failed("store", at.name() + ": " + versions.error().message);
    const bool stands = isConfirmed(*versions);
    if (!stands || at.unconfirmedSince >= 0) c_.history().agents.unconfirmedAt = c_.agenda().now();
    if (!stands && at.unconfirmedSince < 0) c_.probe("mails not confirmed");
    at.unconfirmedSince = stands ? -1 : at.unconfirmedSince < 0 ? c_.agenda().now() : at.unconfirmedSince;
  }
};

}  // namespace

std::unique_ptr<Checker> makeConfirmationChecker(Cluster& cluster) {
  return std::make_unique<ConfirmationChecker>(cluster);
}

}  // namespace witan::sim
