// LedgerWatch: how far a device has looked at a ledger for its agents, when the log is exchanged while none works
// there.
#include "replica/ledger_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/episode/gate.h"
#include "agents/wake/wake_job.h"
#include "replica/agent_runtime.h"
#include "tests/replica/pruning_cluster.h"

namespace witan::node::test::ledger_watch_test {
namespace {

using ::testing::ElementsAre;

// Wakes for every entity of the domain budget that begins.
class Greeter final : public agents::Agent {
 public:
  const agents::AgentSpec& spec() const override {
    static const agents::AgentSpec kSpec{.id = "greeter",
                                         .version = "1",
                                         .what = "greets",
                                         .category = "test",
                                         .ledgers = {{"begun", "budget", "", ""}}};
    return kSpec;
  }
  agents::Turn step(const json::value&, const agents::Input&) const override {
    return {nullptr, {}, agents::Finish{"hello", {}, {}, {}, false}};
  }
};

std::shared_ptr<const AgentSetup> greeting() {
  static const Greeter greeter;
  static const agents::episode::LocalGate gate;
  auto setup = std::make_shared<AgentSetup>();
  setup->agents = {&greeter};
  setup->gate = &gate;
  return setup;
}

// A batch of its own.
void begin(Device& device, const std::string& entity) {
  device.submit(beginning(entity));
  EXPECT_TRUE(device.drain().ok());
}
// Of these entities those that the agent was woken for.
std::vector<std::string> greeted(Device& device, const std::vector<std::string>& entities) {
  for (int round = 0; round < 400; ++round) {
    device.passTime(std::max<std::int64_t>(100, device.replica().nextTickMs() - device.ms));
    EXPECT_TRUE(device.drain().ok());
  }
  auto space = device.replica().data().database(replication::DatabaseName::agents).space("main");
  std::set<RunKey> runs;
  const auto known = agents::knownRuns(**space);
  for (const agents::KnownRun& run : *known) runs.insert(run.key);
  std::vector<std::string> found;
  for (const std::string& entity : entities)
    if (runs.contains(agents::ledgerJob("greeter", "begun", {"budget", entity, "", "", ""})->key()))
      found.push_back(entity);
  return found;
}

TEST(LedgerWatch, ABeginningHasTheTimeOfItsDecision) {
  TestCluster cluster(1, [](std::size_t, ReplicaConfig&) {});
  Device& a = cluster.a();
  ASSERT_TRUE(a.replica().bootstrap(at(0)).ok());
  a.passTime(1'000);
  begin(a, "e");
  std::vector<LedgerEvent> found;
  for (std::uint64_t n = 0; n < a.host().ledger().batches(); ++n) {
    const auto facts = ledgerFactsIn(a.host(), n, {"begun", "budget", "", ""}).value();
    found.insert(found.end(), facts.begin(), facts.end());
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].fact.entity, "e");
  EXPECT_EQ(found[0].time, at(a.ms).wall);
}

// The device had two batches of an epoch that was seized elsewhere. It heard of that in a life without agents, and the
// log that stands has grown beyond the place up to which it had looked.
TEST(LedgerWatch, WhatStandsInPlaceOfWhatWasLookedAtIsLookedAt) {
  bool working = false;  // agents on a, from its next start on
  TestCluster cluster(2, [&](std::size_t n, ReplicaConfig& config) {
    if (n == 0 && working) config.agents = greeting();
  });
  Device &a = cluster.a(), &b = cluster.b();
  const auto restart = [&](bool works) {
    working = works;
    a.start();
  };
  const auto meet = [&] {
    cluster.connect(a, b);
    cluster.run();
    cluster.cut(a, b);
  };
  const auto batches = [](Device& device) { return device.host().ledger().batches(); };
  ASSERT_TRUE(a.replica().bootstrap(at(0)).ok());
  begin(a, "e");
  meet();
  ASSERT_EQ(batches(a), batches(b));

  restart(true);
  for (const char* entity : {"x", "y"}) begin(a, entity);
  EXPECT_THAT(greeted(a, {"e", "x", "y"}), ElementsAre("e", "x", "y"));
  ASSERT_TRUE(b.replica().forceTakeover(kPartition, "the owner is gone", at(b.ms)).ok());
  for (const char* entity : {"p", "q", "r"}) begin(b, entity);

  restart(false);
  meet();
  ASSERT_EQ(a.aside(), 2u);
  ASSERT_EQ(batches(a), batches(b));

  restart(true);
  EXPECT_THAT(greeted(a, {"p", "q", "r"}), ElementsAre("p", "q", "r"));
}

// A device whose agents come to read ledgers looks at nothing of a copy that it has pruned until every entry is back.
class ReadingPruned : public PrunedCluster {};

TEST_F(ReadingPruned, WaitsForWhatItPruned) {
  spendSome(20);
  pass();
  const char reader = pruner();
  ASSERT_GT(device(reader).host().first(), 0u);
  cluster.lose = isPast;
  more = [&](ReplicaConfig& config) {
    if (config.replication.device == std::string(1, reader)) config.agents = greeting();
  };
  cluster.losePower(device(reader));
  join(reader);
  pass(60);
  EXPECT_GT(device(reader).host().first(), 0u);
  EXPECT_THAT(greeted(device(reader), {"e"}), ElementsAre());
  cluster.lose = {};
  pass(60);
  EXPECT_EQ(device(reader).host().first(), 0u);
  EXPECT_THAT(greeted(device(reader), {"e"}), ElementsAre("e"));
}

}  // namespace
}  // namespace witan::node::test::ledger_watch_test
