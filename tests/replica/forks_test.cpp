// Ledgers that go back in time: two logs of one epoch, and the one that stands in the end. Whatever the shape of the
// fork: nobody is cut off for it, the log that parts from the one of the greatest epoch is set aside from exactly where
// they part, and incidents name what was decided there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/test_cluster.h"

namespace witan::node::test::forks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Fork : public ::testing::Test {
 protected:
  Fork() : cluster(3) {
    cluster.found();
    decide(cluster.a(), "op-0");
  }
  Device& a() { return cluster.a(); }
  Device& b() { return cluster.b(); }
  Device& c() { return cluster.c(); }

  void decide(Device& device, const std::string& id, std::int64_t n = 10) {
    ASSERT_TRUE(device.replica().submit(spend(id, n), at(device.ms)).ok());
    cluster.run();
  }
  void alone(Device& device) {
    for (Device* other : {&a(), &b(), &c()})
      if (other != &device) cluster.cut(device, *other);
  }
  void goesBack(Device& device, const auto& image) {
    alone(device);
    device.stores[2].restoreImage(*image);
    device.start();
  }
  void seize(Device& device) {
    const Status seized = device.replica().forceTakeover(kPartition, "", at(device.ms));
    ASSERT_TRUE(seized.ok()) << seized.error().message;
    cluster.run();
  }
  // All are connected, and talk for some minutes.
  void meet() {
    for (Device* device : {&a(), &b(), &c()}) alone(*device);
    cluster.connect(a(), b()), cluster.connect(a(), c()), cluster.connect(b(), c());
    talk();
  }
  void talk() {
    cluster.run();
    for (int minute = 0; minute < 3; ++minute)
      for (Device* device : {&a(), &b(), &c()}) device->passTime(60'000), cluster.run();
  }
  // Nobody has lost a connection over it, and nobody says anything more.
  void expectPeace() {
    EXPECT_THAT(cluster.closed, IsEmpty());
    for (Device* device : {&a(), &b(), &c()}) {
      EXPECT_FALSE(device->hasIncident("badEntries")) << device->name();
      EXPECT_TRUE(device->replica().quiet()) << device->name();
    }
  }
  void expectOneLogOf(Device& owner) {
    expectPeace();
    for (Device* device : {&a(), &b(), &c()}) {
      EXPECT_EQ(device->owns(), device == &owner) << device->name();
      EXPECT_EQ(device->host().chain().last(), owner.host().chain().last()) << device->name();
      EXPECT_EQ(device->decided(), owner.decided()) << device->name();
    }
    decide(a(), "op-after"), decide(b(), "op-then");
    EXPECT_THAT(c().decided(), ::testing::IsSupersetOf({"op-after", "op-then"}));
  }
  std::string surplus(Device& device) {
    std::string all;
    const auto incidents = device.replica().data().incidents();
    for (const replication::Incident& incident : *incidents)
      if (incident.kind == "surplus") all += incident.what + "\n";
    return all;
  }

  TestCluster cluster;
};

TEST_F(Fork, TheOwnerGoesBackAndDecidesAnew) {
  const auto image = a().stores[2].image();
  decide(a(), "op-1"), decide(a(), "op-2");
  goesBack(a(), image);
  decide(a(), "op-3"), decide(a(), "op-4");
  // Nobody remembers more of the logs than what stands on the disks.
  for (Device* device : {&a(), &b(), &c()}) device->losePower();
  meet();
  expectPeace();
  for (Device* device : {&a(), &b(), &c()}) {
    EXPECT_FALSE(device->owns()) << device->name();
    EXPECT_TRUE(device->hasIncident("fork")) << device->name();
  }
  seize(b());
  talk();
  expectOneLogOf(b());
  EXPECT_THAT(b().decided(), ElementsAre("op-0", "op-1", "op-2", "op-after", "op-then"));
  EXPECT_EQ(a().aside(), 2u);
  EXPECT_THAT(surplus(a()), HasSubstr("2 entries of epoch 1 of " + a().replica().ownerName() +
                                      ", which this device decided, are not in the log of the epoch after it; "
                                      "they are kept aside: op-3 op-4"));
}

// Of two logs that have parted the operator says which stands: also the shorter one.
TEST_F(Fork, TheOperatorMayTakeTheOwnersLog) {
  const auto image = a().stores[2].image();
  decide(a(), "op-1"), decide(a(), "op-2");
  goesBack(a(), image);
  decide(a(), "op-3");
  meet();
  seize(a());
  talk();
  expectOneLogOf(a());
  EXPECT_THAT(a().decided(), ElementsAre("op-0", "op-3", "op-after", "op-then"));
  for (Device* device : {&b(), &c()}) {  // op-2 is beyond the other log, op-1 stands beside op-3
    EXPECT_THAT(surplus(*device), HasSubstr(": op-2\n"));
    EXPECT_THAT(surplus(*device), HasSubstr(": op-1\n"));
  }
}

// It knows of the other log, and nobody is there to tell it once more.
TEST_F(Fork, AnOwnerThatHasHeardOfItDecidesNothingMoreAfterARestart) {
  const auto image = a().stores[2].image();
  decide(a(), "op-1");
  goesBack(a(), image);
  decide(a(), "op-2");
  meet();
  ASSERT_FALSE(a().owns());
  alone(a());
  a().losePower();
  EXPECT_FALSE(a().owns());
  decide(a(), "op-3");
  EXPECT_EQ(a().answered("op-3"), nullptr);
  seize(a());
  EXPECT_TRUE(a().owns());
  a().losePower();
  EXPECT_TRUE(a().owns());
}

TEST_F(Fork, AFollowerGoesBackAndFollowsAgain) {
  const auto image = b().stores[2].image();
  decide(a(), "op-1"), decide(a(), "op-2");
  goesBack(b(), image);
  meet();
  for (Device* device : {&a(), &b(), &c()}) EXPECT_FALSE(device->hasIncident("fork")) << device->name();
  expectOneLogOf(a());
}

TEST_F(Fork, TheOwnerAndAFollowerGoBackAndOneOfEachLogIsLeft) {
  const auto first = a().stores[2].image();
  decide(a(), "op-1");
  const auto later = b().stores[2].image();
  decide(a(), "op-2");
  goesBack(b(), later);
  goesBack(a(), first);
  decide(a(), "op-3"), decide(a(), "op-4"), decide(a(), "op-5");
  cluster.connect(a(), b());
  talk();
  EXPECT_TRUE(a().hasIncident("fork"));
  EXPECT_TRUE(b().hasIncident("fork"));
  meet();
  seize(c());
  talk();
  expectOneLogOf(c());
  EXPECT_THAT(c().decided(), ElementsAre("op-0", "op-1", "op-2", "op-after", "op-then"));
  EXPECT_THAT(surplus(a()), HasSubstr(": op-3 op-4\n"));
  EXPECT_THAT(surplus(a()), HasSubstr(": op-5\n"));
  EXPECT_EQ(surplus(b()), "");
}

// A follower that had less than the fork follows the new log, and its owner hands over, before those of the old one are
// back: the later epoch stands.
TEST_F(Fork, ALaterEpochStandsOnTheOtherLog) {
  const auto image = a().stores[2].image();
  alone(c());
  decide(a(), "op-1"), decide(a(), "op-2");
  goesBack(a(), image);
  cluster.connect(a(), c());
  decide(a(), "op-3"), decide(a(), "op-4"), decide(a(), "op-5");
  ASSERT_TRUE(a().replica().transferOwnership(kPartition, "c", "", at(a().ms)).ok());
  cluster.run();
  ASSERT_TRUE(c().owns());
  meet();
  expectOneLogOf(c());
  EXPECT_THAT(c().decided(), ElementsAre("op-0", "op-3", "op-4", "op-5", "op-after", "op-then"));
  EXPECT_THAT(surplus(b()), HasSubstr(": op-1 op-2\n"));
}

TEST_F(Fork, BeforeASnapshot) {
  for (Device* device : {&a(), &b(), &c()}) device->snapshotEvery = 3, device->losePower();
  meet();
  const auto image = a().stores[2].image();
  for (int i = 0; i < 10; ++i) decide(a(), "old-" + std::to_string(i));
  goesBack(a(), image);
  for (int i = 0; i < 8; ++i) decide(a(), "new-" + std::to_string(i));
  for (Device* device : {&a(), &b(), &c()}) device->losePower();
  EXPECT_GT(a().host().ledger().recovery().snapshotBatches, 4u);
  meet();
  seize(b());
  talk();
  expectOneLogOf(b());
  EXPECT_EQ(a().aside(), 8u);
  EXPECT_THAT(surplus(a()), HasSubstr("8 entries of epoch 1"));
}

// Many batches back: exactly what was decided anew is set aside.
TEST_F(Fork, FarBack) {
  for (int i = 0; i < 100; ++i) decide(a(), "both-" + std::to_string(i), 1);
  const auto image = a().stores[2].image();
  for (int i = 0; i < 200; ++i) decide(a(), "old-" + std::to_string(i), 1);
  goesBack(a(), image);
  for (int i = 0; i < 250; ++i) decide(a(), "new-" + std::to_string(i), 1);
  meet();
  seize(b());
  talk();
  expectOneLogOf(b());
  EXPECT_EQ(a().aside(), 250u);  // what is beyond the other log first, then the rest
  EXPECT_EQ(a().replica().counters().surplusEntries, 250u);
}

// What makes no entry is in no tree over the entries: another entity begins.
TEST_F(Fork, InBeginningsAlone) {
  const auto begin = [&](Device& device, const std::string& entity) {
    ASSERT_TRUE(device.replica().submit(beginning(entity), at(device.ms)).ok());
    cluster.run();
  };
  const auto image = a().stores[2].image();
  begin(a(), "f");
  goesBack(a(), image);
  begin(a(), "g");
  ASSERT_EQ(a().host().partition().tree().root(), b().host().partition().tree().root());
  ASSERT_NE(a().host().chain().last(), b().host().chain().last());
  meet();
  EXPECT_TRUE(a().hasIncident("fork"));
  EXPECT_FALSE(a().owns());
  seize(b());
  talk();
  expectOneLogOf(b());
}

// The successor goes back to before its predecessor's last word, hears that once more, and begins its epoch a second
// time.
TEST_F(Fork, WhileAHandoverIsUnderWay) {
  const auto image = b().stores[2].image();
  cluster.lose = [](const TestCluster::Frame& frame) {
    return frame.to == "a";
  };  // it hands over and hears nothing of it
  ASSERT_TRUE(a().replica().transferOwnership(kPartition, "b", "", at(a().ms)).ok());
  cluster.run();
  ASSERT_TRUE(b().owns());
  decide(b(), "op-1");
  alone(c());
  cluster.lose = {};
  goesBack(b(), image);
  b().ms += 1'000;
  cluster.connect(a(), b());
  cluster.run();
  ASSERT_TRUE(b().owns());
  decide(b(), "op-2");
  ASSERT_EQ(b().host().lineage().epochs, c().host().lineage().epochs);
  meet();
  for (Device* device : {&b(), &c()}) EXPECT_TRUE(device->hasIncident("fork")) << device->name();
  EXPECT_FALSE(b().owns());
  seize(c());
  talk();
  expectOneLogOf(c());
  EXPECT_THAT(c().decided(), ElementsAre("op-0", "op-1", "op-after", "op-then"));
  EXPECT_THAT(surplus(b()), HasSubstr("of epoch 3 of " + b().replica().ownerName()));
}

// The device that seized goes back to before, and seizes again, elsewhere in the log: two epochs of one name.
TEST_F(Fork, TheSameSeizureTwice) {
  alone(a());
  const auto image = c().stores[2].image();
  seize(c());
  decide(c(), "op-1");
  goesBack(c(), image);
  alone(b());
  cluster.connect(a(), c());
  decide(a(), "op-2");  // c follows its old owner once more
  cluster.cut(a(), c());
  seize(c());
  decide(c(), "op-3");
  ASSERT_EQ(c().host().epoch(), b().host().epoch());
  meet();
  EXPECT_TRUE(b().hasIncident("fork"));
  EXPECT_TRUE(c().hasIncident("fork"));
  EXPECT_FALSE(c().owns());
  seize(b());
  talk();
  expectOneLogOf(b());
  EXPECT_THAT(b().decided(), ElementsAre("op-0", "op-1", "op-after", "op-then"));
  EXPECT_THAT(surplus(c()), HasSubstr(" op-3\n"));
  EXPECT_THAT(surplus(a()), HasSubstr(" op-2"));
}

TEST(ForkFrames, APeerThatMakesUpMarksIsCutOff) {
  TestCluster cluster(2);
  cluster.found();
  PeerAdvertisement standing;
  standing.owner = cluster.b().replica().ownerName();
  LogPosition position = cluster.b().host().position();
  position.probes.assign(kMaxLogProbes + 1, {1, sha256("x")});
  standing.positions.push_back(position);
  std::string frame;
  WordWriter words;
  appendFrame(frame, words, standing);
  cluster.a().replica().received("b", frame, at(0));
  cluster.run();
  EXPECT_THAT(cluster.closed, ElementsAre("a to b"));
}

}  // namespace
}  // namespace witan::node::test::forks_test
