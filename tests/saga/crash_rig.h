// Power loss under sagas: one wake is carried out again and again on two stores that fail somewhere, as a node is
// started again after each crash. Whatever a plan says must then have happened once in each database, and nothing else.
#pragma once

#include <memory>

#include "replication/records/record_schemas.h"
#include "store/memory_store.h"
#include "store/testing/crashable_rocks.h"
#include "tests/saga/host.h"

namespace witan::saga::test {

template <class StoreT>
class CrashRig {
 public:
  StoreT journal, agents;
  World world;

  // The node's life until everything is done: "" then, "stopped" when a store failed, else what is wrong.
  std::string live() {
    ReplicaOptions options;
    options.cluster = "test";
    options.clusterKey = "key";
    options.device = "a";
    options.trustStore = true;
    options.freshTag = [] { return 1u; };
    auto opened = LocalReplica::open(journal, agents, recordSchemas(), std::move(options));
    if (!opened.ok()) return stoppedOr("cannot open: " + opened.error().message);
    LocalReplica& replica = **opened;
    Host host(replica, world);
    if (Status loaded = host.engine.load(host.now); !loaded.ok()) return stoppedOr(loaded.error().message);
    recovered = host.engine.counters().recovered;
    wake(host);
    if (!host.run()) return stoppedOr("a flush failed");
    return verdict(host);
  }
  void powerLoss(const store::CrashPlan& plan) {
    journal.crash(plan);
    agents.crash(plan);
  }

  std::uint64_t recovered = 0;

 private:
  std::string stoppedOr(std::string why) { return journal.struck() || agents.struck() ? "stopped" : why; }

  // As an episode: a plan that is on record is carried out again, never planned again. A plan that was lost is made
  // anew, and then it is another one, as with a model that answers twice.
  void wake(Host& host) {
    const PlanView view = host.planView("t");
    if (view.winner) {
      EXPECT_TRUE(host.engine.begin(intentsOf(view.winner->body), host.now).ok());
      return;
    }
    const std::string attempt = "{\"attempt\":" + std::to_string(++attempts_) + "}";
    host.plan("t", {action("count", "e1", attempt), action("count", "e1", attempt), action("call", "x", attempt),
                    action("put", "e2", attempt), action("refused", "e3", attempt)});
  }

  std::string verdict(Host& host) {
    const PlanView view = host.planView("t");
    if (!view.winner || !view.losers.empty()) return "not one plan";
    const auto intents = intentsOf(view.winner->body);
    std::size_t inJournal = 0;
    for (const Intent& intent : intents) {
      const bool journalled = intent.kind == EffectKind::journal && intent.tool != "refused";
      inJournal += journalled ? 1 : 0;
      const auto inJ = host.recordsIn(DatabaseName::journal, intent.id());
      const auto inA = host.recordsIn(DatabaseName::agents, intent.id());
      if (inJ != (journalled ? 1u : 0u) || inA != 1)
        return intent.tool + ": " + std::to_string(inJ) + " records in the journal, " + std::to_string(inA) +
               " in the agents' database";
      if (host.messagesOf(intent.id()) != 1) return intent.tool + ": not one message of its outcome";
      if (intent.kind == EffectKind::tool && !world.calls.contains(intent.operation)) return "the tool was not called";
    }
    if (host.operationsIn(DatabaseName::journal).size() != inJournal) return "an effect that no plan knows";
    if (host.operationsIn(DatabaseName::agents).size() != intents.size()) return "an outcome that no plan knows";
    if (host.says("e1") != "2") return "counted twice: " + host.says("e1");
    if (host.says("e2") != view.winner->body.actions[3].arguments) return "e2 says " + host.says("e2");
    if (host.engine.open() != 0) return "a saga is still open";
    std::size_t rows = 0;
    if (!host.engine.rows().visitOpen([&](SagaRow&&) { ++rows; }).ok() || rows != 0) return "a row is left";
    return {};
  }

  int attempts_ = 0;
};

struct CrashTally {
  std::size_t crashes = 0;
  std::size_t midway = 0;  // crashes after which there was a row to recover
};

// Power loss at every write step of either store, before and after it, with each of `plans` for what survives; then,
// if `twice`, again at every step of the recovery. Returns "" or the first run that lost or doubled anything.
template <class StoreT>
std::string crashEverywhere(const std::vector<store::CrashPlan>& plans, bool twice, CrashTally& tally) {
  CrashRig<StoreT> undisturbed;
  if (std::string broken = undisturbed.live(); !broken.empty()) return "undisturbed: " + broken;
  const std::uint64_t steps[2] = {undisturbed.journal.writeSteps(), undisturbed.agents.writeSteps()};
  const auto arm = [](CrashRig<StoreT>& rig, int which, std::uint64_t n, store::Moment moment) {
    which == 0 ? rig.journal.crashAt(n, moment) : rig.agents.crashAt(n, moment);
  };
  const auto name = [](int which, std::uint64_t n, store::Moment moment) {
    return std::string(which == 0 ? "journal" : "agents") + " step " + std::to_string(n) +
           (moment == store::Moment::before ? " before" : " after");
  };
  for (int which = 0; which < 2; ++which)
    for (std::uint64_t n = 0; n < steps[which]; ++n)
      for (const store::Moment moment : {store::Moment::before, store::Moment::after})
        for (std::size_t p = 0; p < plans.size(); ++p) {
          const std::string where = name(which, n, moment) + ", disk " + std::to_string(p) + ": ";
          for (std::uint64_t again = 0; again < (twice ? 64u : 1u); ++again) {
            CrashRig<StoreT> rig;
            arm(rig, which, n, moment);
            if (std::string first = rig.live(); first != "stopped") return where + "the crash did not strike: " + first;
            rig.powerLoss(plans[p]);
            ++tally.crashes;
            if (twice) {
              const int second = static_cast<int>(again % 2);
              arm(rig, second, again / 4, again / 2 % 2 == 0 ? store::Moment::before : store::Moment::after);
              const std::string next = rig.live();
              tally.midway += rig.recovered > 0 ? 1 : 0;
              if (next.empty()) continue;  // it ended before that step
              if (next != "stopped") return where + "then " + std::to_string(again) + ": " + next;
              rig.powerLoss(plans[p]);
              ++tally.crashes;
            }
            const std::string last = rig.live();
            tally.midway += rig.recovered > 0 ? 1 : 0;
            if (!last.empty()) return where + (twice ? "then " + std::to_string(again) + ": " : "") + last;
          }
        }
  return {};
}

}  // namespace witan::saga::test
