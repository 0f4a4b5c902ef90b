// When a copy is synced: what is answered is durable at the owner, so a proposer's copy of it may wait a little.
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::copies_test {
namespace {

struct Copies : ::testing::Test {
  void SetUp() override { cluster.found(); }

  void submit(Device& device, Request request) {
    const Status accepted = device.replica().submit(std::move(request), at(device.ms));
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  }
  // b proposes twice. One answer is lost on the way, so that request is still out when the copies are there.
  void proposeAndLoseAnAnswer() {
    std::size_t answers = 0;
    cluster.lose = [answers](const TestCluster::Frame& frame) mutable {
      return frame.to == "b" && typeOf(frame.bytes) == AdjudicationFrame::answer && answers++ == 0;
    };
    submit(b, spend("op-1", 10));
    submit(b, spend("op-2", 10));
    cluster.run();
    cluster.lose = {};
    ASSERT_EQ(b.replica().outbox().size(), 1u);
    ASSERT_EQ(b.host().ledger().batches(), a.host().ledger().batches());
  }
  std::size_t unsynced() const { return b.stores[2].unsyncedBatches(); }

  TestCluster cluster{2};
  Device &a = cluster.a(), &b = cluster.b();
};

TEST_F(Copies, OfAProposerWaitForTheirSyncButNotLong) {
  proposeAndLoseAnAnswer();
  EXPECT_GT(unsynced(), 0u);
  EXPECT_FALSE(b.replica().quiet());
  EXPECT_LE(b.replica().nextTickMs(), b.ms + 50);
  b.passTime(50);
  ASSERT_TRUE(b.drain().ok());
  EXPECT_EQ(unsynced(), 0u);
}

TEST_F(Copies, AreToldOfOnlyOnceTheyAreDurable) {
  std::size_t told = 0;
  const auto count = [&] {
    for (const Outgoing& out : b.sends)
      for (const std::string& frame : framesOf(out.frames)) told += typeOf(frame) == AdjudicationFrame::followed;
    return told;
  };
  proposeAndLoseAnAnswer();
  EXPECT_FALSE(a.replica().quiet()) << "nobody has told the owner of a copy";
  b.passTime(49);
  ASSERT_TRUE(b.drain().ok());
  EXPECT_EQ(count(), 0u);
  b.passTime(1);
  ASSERT_TRUE(b.drain().ok());
  EXPECT_EQ(count(), 1u);
  cluster.run();
  EXPECT_TRUE(a.replica().quiet());
}

TEST_F(Copies, OfAnOnlookerAreSyncedAtOnce) {
  submit(a, spend("op-1", 10));
  cluster.run();
  EXPECT_EQ(b.host().ledger().batches(), a.host().ledger().batches());
  EXPECT_EQ(unsynced(), 0u);
  EXPECT_TRUE(a.replica().quiet());
}

TEST_F(Copies, ThatWereLostWithThePowerComeAgain) {
  proposeAndLoseAnAnswer();
  const std::uint64_t batches = b.host().ledger().batches();
  cluster.losePower(b);
  EXPECT_LT(b.host().ledger().batches(), batches);
  cluster.connect(a, b);
  cluster.run();
  EXPECT_EQ(b.decided(), a.decided());
  EXPECT_EQ(b.host().partition().tree().root(), a.host().partition().tree().root());
  EXPECT_FALSE(a.noticed("wentBack") || b.noticed("wentBack") || b.hasIncident("fork"));
}

// The first word of an epoch stands on everything before it.
TEST_F(Copies, OfASuccessorAreDurableBeforeItsFirstWord) {
  proposeAndLoseAnAnswer();
  ASSERT_GT(unsynced(), 0u);
  ASSERT_TRUE(a.replica().transferOwnership(kPartition, "b", "", at(a.ms)).ok());
  cluster.run();
  ASSERT_TRUE(b.owns());
  EXPECT_EQ(unsynced(), 0u);
  cluster.losePower(b);
  EXPECT_TRUE(b.owns());
  EXPECT_EQ(b.decided(), a.decided());
}

// The roster took the role `ledger` from b while it ran: the owner gives it no entry any more, and is no liar.
TEST(Roles, WhoLostItsLedgersBelievesAnAnswerWithoutAnEntry) {
  std::string keepers = "abc";
  TestCluster cluster(3, [&](std::size_t, ReplicaConfig& config) {
    config.keepsLedgers = [&](std::string_view device) { return keepers.find(device.front()) != std::string::npos; };
  });
  cluster.found();
  keepers = "ac";
  for (Device* device : {&cluster.a(), &cluster.c()}) cluster.cut(cluster.b(), *device);
  for (Device* device : {&cluster.a(), &cluster.c()}) cluster.connect(cluster.b(), *device);
  cluster.run();
  cluster.b().submit(spend("op-1", 10));
  cluster.run();
  ASSERT_NE(cluster.b().answered("op-1"), nullptr);
  EXPECT_EQ(cluster.b().answered("op-1")->outcome, kernel::Outcome::approved);
  EXPECT_FALSE(cluster.b().hasIncident("falseAnswer"));
}

}  // namespace
}  // namespace witan::node::test::copies_test
