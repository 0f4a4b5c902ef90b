// What is seen of an owner's copy that is ahead of what etcd has confirmed (docs/etcd.md, rule 7): nothing that may yet
// come to nothing, and what is confirmed again and again.
#include <gmock/gmock.h>

#include "agents/entry_agent.h"
#include "agents/episode/gate.h"
#include "agents/host/agent_host.h"
#include "replica/agent_runtime.h"
#include "replica/core/partition_host.h"
#include "tests/reproduced_finding.h"
#include "tests/sim/etcd_owner.h"

namespace witan::sim::etcd_shown_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Looks at the finding when it is spoken to, and keeps what it saw.
class Reader final : public agents::Agent {
 public:
  const agents::AgentSpec& spec() const override {
    static const agents::AgentSpec kSpec{.id = "reader",
                                         .version = "1",
                                         .what = "reads",
                                         .category = "test",
                                         .subscriptions = {agents::onEntries("nothing")},
                                         .capabilities = {{"slice.read", 5}}};
    return kSpec;
  }
  agents::Turn step(const json::value& sigma, const agents::Input& input) const override {
    if (input.kind == agents::InputKind::wake)
      return {sigma,
              {},
              agents::Looks{
                  {"slice.read",
                   {{"domain", "verification"}, {"entity", "proj"}, {"role", "SeverityAssessment"}, {"key", "F1"}},
                   0}}};
    seen.push_back(canonicalJson(input.content));
    return {sigma, {}, agents::Finish{"seen", {}, {}, {}, false}};
  }
  mutable std::vector<std::string> seen;
};

TEST(EtcdShown, AnAgentSeesNothingThatMayYetComeToNothing) {
  Reader reader;
  const agents::episode::LocalGate gate;
  AgentSetup work;
  work.agents = {&reader};
  work.gate = &gate;
  addLedgerTools(work, domains::contentSeals());
  Owner::Setup setup;
  setup.domains = {"verification"};
  setup.agents = std::make_shared<const AgentSetup>(std::move(work));
  Owner owner(setup);
  owner.submit(initRequest(owner.module(), "proj", "begin-proj", *parseJson(witan::test::kReproducedFinding)));
  owner.pass(1'000);
  owner.submit(*proposalRequest(
      owner.module(), "proj", "SeverityAssessment", "verdict",
      *parseJson(
          R"({"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N","score":0,"b":"NONE"})")));
  const std::vector<EtcdRequest> underWay = owner.drain();  // to etcd, which says nothing
  ASSERT_TRUE(owner.host().ahead());
  ASSERT_TRUE(owner.replica().agents()->userTurn("reader", "s", "1", "look", at(owner.ms)).ok());
  for (int round = 0; round < 50; ++round) {
    owner.ms += 10;
    (void)owner.drain();
  }
  EXPECT_THAT(reader.seen, IsEmpty());
  // It has been replaced meanwhile: what was decided is thrown away.
  EtcdRequest end;
  end.then = {{EtcdAct::remove, {"witan/c/owner/verification/0", ""}, "", 0, 0}};
  (void)owner.etcd.apply(end, owner.ms * 1000);
  for (const EtcdRequest& request : underWay) owner.carry(request);
  for (int round = 0; round < 5; ++round) (void)owner.drain();
  ASSERT_EQ(reader.seen.size(), 1u);
  EXPECT_THAT(reader.seen[0], HasSubstr(R"("F1":"CRITICAL")"));
}

// The look that waited is nobody's any more, and what comes for nobody is no error of a store.
TEST(EtcdShown, ALookThatWasGivenUpIsNotMade) {
  Reader reader;
  const agents::episode::LocalGate gate;
  AgentSetup work;
  work.agents = {&reader};
  work.gate = &gate;
  work.options.callTimeoutMs = 1'000;
  addLedgerTools(work, domains::contentSeals());
  int looks = 0;
  work.look = [&looks, look = work.look](const Replica& replica, const agents::ToolCall& call, Now now) {
    ++looks;
    return look(replica, call, now);
  };
  Owner::Setup setup;
  setup.domains = {"verification"};
  setup.agents = std::make_shared<const AgentSetup>(std::move(work));
  Owner owner(setup);
  owner.submit(initRequest(owner.module(), "proj", "begin-proj", *parseJson(witan::test::kReproducedFinding)));
  owner.pass(1'000);
  owner.submit(*proposalRequest(
      owner.module(), "proj", "SeverityAssessment", "verdict",
      *parseJson(
          R"({"type":"AssessSeverity","f":"F1","vector":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N","score":0,"b":"NONE"})")));
  const std::vector<EtcdRequest> underWay = owner.drain();  // to etcd, which says nothing
  ASSERT_TRUE(owner.host().ahead());
  agents::AgentHost& host = *owner.replica().agents();
  const auto run = host.userTurn("reader", "s", "1", "look", at(owner.ms));
  ASSERT_TRUE(run.ok());
  for (int round = 0; round < 50; ++round) owner.ms += 10, (void)owner.drain();
  ASSERT_THAT(reader.seen, IsEmpty());
  EXPECT_TRUE(host.observed(*run, "what it never asked for", {}).ok()) << "as of a run that was started over";
  for (int round = 0; round < 100; ++round) owner.ms += 10, (void)owner.drain();
  ASSERT_EQ(reader.seen.size(), 1u);
  EXPECT_THAT(reader.seen[0], HasSubstr("did not answer in time"));
  for (const EtcdRequest& request : underWay) owner.carry(request);
  owner.pass(5'000);
  ASSERT_FALSE(owner.host().ahead());
  EXPECT_EQ(looks, 0);
}

// One request waits whenever a batch is confirmed: without a pause no round would ever end with the log's state.
TEST(EtcdShown, UnderLoadItIsTheLogsAtTheEndOfARoundNowAndThen) {
  EtcdOptions options;
  options.pipeline = 1;
  Owner owner(options);
  int shown = 0;
  std::vector<EtcdRequest> underWay;
  for (int round = 0; round < 300; ++round) {
    owner.ms += 10;
    owner.submit(owner.spend("op-" + std::to_string(round)));
    for (const EtcdRequest& request : std::exchange(underWay, {})) owner.carry(request);
    underWay = owner.drain();
    shown += owner.host().showsLog() ? 1 : 0;
  }
  EXPECT_GE(shown, 15);
  EXPECT_LE(shown, 60) << "it rests no more than it must";
}

// A partition that waits for its last batches before it is shown holds up no other.
TEST(EtcdShown, APartitionAtRestHoldsUpNoOther) {
  Owner::Setup setup;
  setup.domains = {"budget", "moderation"};
  Owner owner(setup);
  owner.submit(owner.spend("one"));
  const std::vector<EtcdRequest> underWay = owner.drain();
  const std::uint64_t batches = owner.host(1).position().batches;
  owner.ms += 150;  // it is ahead for too long
  owner.submit(owner.spend("two"));
  (void)owner.drain();
  EXPECT_EQ(owner.host().partition().size(), 1u) << "it rests";
  owner.submit(initRequest(owner.module(1), "other", "begin-other", json::object{}));
  for (const EtcdRequest& request : owner.drain()) owner.carry(request);
  (void)owner.drain();
  EXPECT_NE(owner.answered("begin-other"), nullptr);
  EXPECT_GT(owner.host(1).position().batches, batches);
  for (const EtcdRequest& request : underWay) owner.carry(request);
  (void)owner.drain();
  EXPECT_TRUE(owner.host().showsLog()) << "a round in which it is the log's";
  owner.talk();
  EXPECT_NE(owner.answered("one"), nullptr);
  EXPECT_NE(owner.answered("two"), nullptr);
}

// Devices without ledgers follow no log: they learn who owns what from those that do, with etcd too.
TEST(EtcdShown, DevicesWithoutLedgersHearWhoTheOwnersAre) {
  Owner::Setup setup;
  setup.keepsLedgers = [](std::string_view device) { return device != "b"; };
  Owner owner(setup);
  node::test::Device other("b", [&](ReplicaConfig& config) {
    config.replication.cluster = "c";
    config.domains = {&owner.module()};
    config.ledgerReplica = false;
    config.etcd = setup.etcd;  // says whose word counts, and asks etcd nothing
  });
  const auto carry = [](node::test::Device& from, node::test::Device& to) {
    for (const Outgoing& out : std::exchange(from.sends, {}))
      for (const std::string& frame : node::test::framesOf(out.frames))
        to.replica().received(from.name(), frame, at(to.ms));
  };
  const auto talk = [&] {
    for (int round = 0; round < 30; ++round) {
      other.ms = owner.ms += 10;
      owner.talk();
      carry(owner, other);
      ASSERT_TRUE(other.drain().ok());
      carry(other, owner);
    }
  };
  owner.replica().connected("b", at(owner.ms));
  other.replica().connected("a", at(owner.ms));
  talk();
  const OwnershipRecord* claim = other.replica().owners().find("budget/0");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->owner, owner.replica().ownerName());
  const std::uint64_t first = claim->number;
  // It loses the partition and gets it again: another epoch, of which the log alone speaks.
  EtcdRequest end;
  end.then = {{EtcdAct::remove, {"witan/c/owner/budget/0", ""}, "", 0, 0}};
  (void)owner.etcd.apply(end, owner.ms * 1000);
  owner.pass(10'000);
  talk();
  claim = other.replica().owners().find("budget/0");
  ASSERT_NE(claim, nullptr);
  EXPECT_GT(claim->number, first);
}

}  // namespace
}  // namespace witan::sim::etcd_shown_test
