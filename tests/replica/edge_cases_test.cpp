// Rare orders of events between two copies of a log: a fork with a peer that computes no digests, entries before the
// sender's position, and a handover that another ownership engine left in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::edge_cases_test {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Devices a and b; a owns the partition, b follows. Frames that a never sent can be given to b.
class EdgeCases : public ::testing::Test {
 protected:
  EdgeCases() : cluster(2, withoutKeys) {
    cluster.found();
    decide("op-0");
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }

  void decide(const std::string& id) {
    ASSERT_TRUE(a().replica().submit(spend(id, 10), at(a().ms)).ok());
    cluster.run();
  }
  template <class T>
  void giveToB(const T& message) {
    std::string frame;
    WordWriter words;
    appendFrame(frame, words, message);
    b().replica().received("a", frame, at(b().ms));
  }
  // The next batch of b's log by its number, written on top of another log of the same epoch.
  void giveDivergentEntries() {
    const LogPosition mine = b().host().position();
    const kernel::Epoch epoch = b().host().epoch();
    giveToB(Entries{std::string(kPartition), mine.batches, epoch.number, epoch.owner, epoch.number, epoch.owner,
                    std::vector<std::uint8_t>(64), Hash{}, sha256("another log")});
  }
  // A peer whose log lacks b's last batch asks b for entries; `chain`: its digest, zeros: it computes none.
  void askForLastBatch(const Hash& chain) {
    LogPosition position = b().host().position();
    position.follow = true;
    position.batches -= 1;
    position.chain = chain;
    PeerAdvertisement advertisement;
    advertisement.owner = a().replica().ownerName();
    advertisement.engine = "embedded";
    advertisement.positions = {position};
    giveToB(advertisement);
  }
  // The types of the adjudication frames that b sends in its next round.
  std::vector<AdjudicationFrame> sentByB() {
    b().sends.clear();
    EXPECT_TRUE(b().drain().ok());
    std::vector<AdjudicationFrame> types;
    for (const Outgoing& out : b().sends)
      for (const std::string& frame : framesOf(out.frames))
        if (isAdjudication(frame)) types.push_back(typeOf(frame));
    b().sends.clear();
    return types;
  }

  TestCluster cluster;
};

TEST_F(EdgeCases, AForkWithAPeerThatComputesNoDigestsEndsWhenTheLogsCompareEqual) {
  giveDivergentEntries();
  ASSERT_TRUE(b().hasIncident("fork"));
  askForLastBatch(Hash{});
  EXPECT_THAT(sentByB(), Not(Contains(AdjudicationFrame::entries))) << "nothing shows that the fork is over";
  askForLastBatch(*b().host().chain().after(b().host().ledger().batches() - 1));
  EXPECT_THAT(sentByB(), Contains(AdjudicationFrame::entries));
}

// The advertisements of a are lost, so b gets entries of a peer whose position it does not know.
TEST_F(EdgeCases, DivergentEntriesBeforeThePositionDoNotKeepADeviceFromFollowing) {
  cluster.cut(a(), b());
  cluster.connect(a(), b());
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "b" && isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::standing;
  };
  cluster.run();
  giveDivergentEntries();
  ASSERT_TRUE(b().hasIncident("fork"));
  cluster.run();
  cluster.lose = {};
  a().passTime(60'000);  // it advertises its positions again
  cluster.run();
  decide("op-1");
  EXPECT_THAT(b().decided(), Contains("op-1"));
}

TEST_F(EdgeCases, EntriesBeforeThePositionAreTakenAndTheOwnerIsFollowedLater) {
  cluster.cut(a(), b());
  decide("op-1"), decide("op-2");
  cluster.connect(a(), b());
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "b" && isAdjudication(frame.bytes) && typeOf(frame.bytes) == AdjudicationFrame::standing;
  };
  cluster.run();
  const std::uint64_t next = b().host().ledger().batches();
  const std::string value = *a().host().ledger().batch(next);
  const kernel::Epoch epoch = a().host().epoch();
  giveToB(Entries{std::string(kPartition),
                  next,
                  epoch.number,
                  epoch.owner,
                  epoch.number,
                  epoch.owner,
                  {value.begin(), value.end()},
                  Hash{},
                  *a().host().chain().after(next)});
  cluster.run();
  EXPECT_THAT(b().decided(), Contains("op-1"));
  EXPECT_THAT(b().decided(), Not(Contains("op-2")));
  cluster.lose = {};
  a().passTime(60'000);
  cluster.run();
  EXPECT_THAT(b().decided(), Contains("op-2"));
}

// The last entry of the log names device b as the successor of a.
void storeHandoverToB(Device& b) {
  auto host = PartitionHost::open(b.stores[2], budget(), {std::string(kPartition), "test/" + std::string(kPartition)});
  ASSERT_TRUE(host.ok());
  store::WriteBatch rows;
  (*host)->beginEpoch({1, "a@00000001"}, kernel::EpochCause::founding, at(0).wall, "", rows);
  ASSERT_TRUE(b.stores[2].writeSynced(rows).ok());
  (*host)->ledger().written();
  rows.clear();
  (*host)->beginEpoch({2, "a@00000001"}, kernel::EpochCause::handover, at(0).wall, "", rows, b.replica().ownerName());
  ASSERT_TRUE(b.stores[2].writeSynced(rows).ok());
}

TEST(StoredHandover, TheNamedDeviceBeginsItsEpochWhenItStarts) {
  Device b("b");
  storeHandoverToB(b);
  b.start();
  ASSERT_TRUE(b.drain().ok());
  EXPECT_EQ(b.host().epoch(), (kernel::Epoch{3, b.replica().ownerName()}));
  EXPECT_TRUE(b.owns());
}

// etcd names the owners: an epoch without its key would put a batch into this log alone.
TEST(StoredHandover, UnderEtcdItBeginsNoEpoch) {
  Device b("b", [](ReplicaConfig& config) { config.etcd = EtcdOptions{}; });
  storeHandoverToB(b);
  b.start();
  ASSERT_TRUE(b.drain().ok());
  EXPECT_EQ(b.host().epoch(), (kernel::Epoch{2, "a@00000001"}));
  EXPECT_FALSE(b.owns());
}

}  // namespace
}  // namespace witan::node::test::edge_cases_test
