// LedgerWatch: how far a device has looked at a ledger for its agents, when the log is exchanged while none works
// there.
#include "replica/ledger_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/episode/gate.h"
#include "agents/wake/wake_job.h"
#include "replica/agent_runtime.h"
#include "tests/replica/cable.h"

namespace witan::node::test {
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

// A device on which agents work in some lives and in others not.
class Keeper {
 public:
  explicit Keeper(std::string name) : name_(std::move(name)) { start(nullptr); }

  void start(std::shared_ptr<const AgentSetup> agents) {
    replica.reset();
    ReplicaConfig config = configOf(name_, tags_);
    config.agents = std::move(agents);
    auto opened = Replica::open({stores_[0], stores_[1], stores_[2]}, std::move(config), at(ms));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica = *std::move(opened);
  }
  // A batch of its own.
  void begin(const std::string& entity) {
    const Status accepted = replica->submit(beginning(entity), at(ms));
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
    (void)drain();
  }
  std::vector<Outgoing> drain() {
    Effects effects;
    EXPECT_TRUE(replica->drain(at(ms), effects).ok());
    return std::move(effects.sends);
  }
  std::uint64_t batches() { return replica->host(kPartition)->ledger().batches(); }
  std::size_t aside() {
    std::size_t n = 0;
    EXPECT_TRUE(stores_[2].scan("x/", {}, [&](std::string_view, std::string_view) { return ++n, true; }).ok());
    return n;
  }
  // Of these entities those that the agent was woken for.
  std::vector<std::string> greeted(const std::vector<std::string>& entities) {
    for (int round = 0; round < 400; ++round) {
      replica->tick(at(ms = std::max(ms + 100, replica->nextTickMs())));
      (void)drain();
    }
    auto space = replica->data().database(replication::DatabaseName::agents).space("main");
    std::set<RunKey> runs;
    const auto known = agents::knownRuns(**space);
    for (const agents::KnownRun& run : *known) runs.insert(run.key);
    std::vector<std::string> found;
    for (const std::string& entity : entities)
      if (runs.contains(agents::ledgerJob("greeter", "begun", {"budget", entity, "", "", ""})->key()))
        found.push_back(entity);
    return found;
  }

  std::unique_ptr<Replica> replica;
  std::int64_t ms = 0;

 private:
  const std::string name_;
  std::uint32_t tags_ = 0;
  std::array<store::MemoryStore, 3> stores_;  // journal, agents, ledgers
};

// Connected until neither says anything more, then cut.
void meet(Keeper& a, Keeper& b) {
  a.replica->connected("b", at(a.ms));
  b.replica->connected("a", at(b.ms));
  for (bool more = true; more;) {
    const auto said = a.drain(), answered = b.drain();
    more = !said.empty() || !answered.empty();
    for (const Outgoing& out : said)
      for (const std::string& frame : framesOf(out.frames)) b.replica->received("a", frame, at(b.ms));
    for (const Outgoing& out : answered)
      for (const std::string& frame : framesOf(out.frames)) a.replica->received("b", frame, at(a.ms));
  }
  a.replica->disconnected("b");
  b.replica->disconnected("a");
}

// The device had two batches of an epoch that was seized elsewhere. It heard of that in a life without agents, and the
// log that stands has grown beyond the place up to which it had looked.
TEST(LedgerWatch, WhatStandsInPlaceOfWhatWasLookedAtIsLookedAt) {
  Keeper a("a"), b("b");
  ASSERT_TRUE(a.replica->bootstrap(at(0)).ok());
  a.begin("e");
  meet(a, b);
  ASSERT_EQ(a.batches(), b.batches());

  a.start(greeting());
  for (const char* entity : {"x", "y"}) a.begin(entity);
  EXPECT_THAT(a.greeted({"e", "x", "y"}), ElementsAre("e", "x", "y"));
  ASSERT_TRUE(b.replica->forceTakeover(kPartition, "the owner is gone", at(b.ms)).ok());
  for (const char* entity : {"p", "q", "r"}) b.begin(entity);

  a.start(nullptr);
  meet(a, b);
  ASSERT_EQ(a.aside(), 2u);
  ASSERT_EQ(a.batches(), b.batches());

  a.start(greeting());
  EXPECT_THAT(a.greeted({"p", "q", "r"}), ElementsAre("p", "q", "r"));
}

}  // namespace
}  // namespace witan::node::test
