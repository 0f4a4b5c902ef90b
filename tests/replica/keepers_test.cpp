// Copies that not all devices keep: who has them, how they are made again, and when one may go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "replica/head_exchange.h"
#include "tests/replica/test_cluster.h"

namespace witan::node::test::keepers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Devices "a" to "e", of which some are in the roster and keep two copies, by one placement for all.
class Keepers : public ::testing::Test {
 protected:
  void found() {
    ASSERT_TRUE(device('a').replica().bootstrap(at(0)).ok());
    ASSERT_TRUE(device('a').replica().submit(beginning(), at(0)).ok());
    for (char one = 'a'; one <= 'e'; ++one)
      for (char other = 'a'; other < one; ++other) cluster.connect(device(other), device(one));
    cluster.run();
  }
  // Each has a copy.
  void foundEverywhere() {
    copies = 9;
    roster("abcde");
    found();
  }
  Device& device(char name) { return cluster.of(std::string(1, name)); }
  Placement placement() const {
    std::vector<LedgerMember> of;
    for (const char name : members) of.push_back({std::string(1, name), ""});
    return {of, {{"budget", copies}}, version};
  }
  // Another roster, on each device of `who`.
  void roster(const std::string& next, const std::string& who = "abcde") {
    members = next, ++version;
    for (const char name : who) device(name).replica().rosterChanged();
  }
  // Long enough for everything that devices look at by themselves.
  void pass(std::int64_t seconds = 130) {
    for (std::int64_t n = 0; n < seconds; n += 5) {
      for (char name = 'a'; name <= 'e'; ++name) device(name).passTime(5'000);
      cluster.run();
    }
  }
  std::string keepers() const {
    std::string names;
    const Placement now = placement();
    for (const std::string& name : now.keepers(kPartition)) names += name;
    return names;
  }
  // Of those that have one, and are in `who`.
  std::string holders(const std::string& who = "abcde") {
    std::string names;
    for (const char name : who)
      if (device(name).replica().host(kPartition) != nullptr) names += name;
    return names;
  }
  void expectWhole(const std::string& who) {
    for (const char name : who) {
      PartitionHost* host = device(name).replica().host(kPartition);
      ASSERT_NE(host, nullptr) << name;
      EXPECT_EQ(host->durableBatches(), device(owner()).host().durableBatches()) << name;
      EXPECT_EQ(host->chain().last(), device(owner()).host().chain().last()) << name;
    }
  }
  char owner() {
    for (char name = 'a'; name <= 'e'; ++name)
      if (PartitionHost* host = device(name).replica().host(kPartition);
          host != nullptr && device(name).replica().owns(*host))
        return name;
    return '?';
  }
  void spendAt(char name, const std::string& id) {
    device(name).submit(spend(id, 10));
    cluster.run();
  }
  static std::string joinOf(std::string one, const std::string& other) {
    for (const char name : other)
      if (one.find(name) == std::string::npos) one += name;
    std::ranges::sort(one);
    return one;
  }
  static std::string without(std::string from, char taken) {
    std::erase(from, taken);
    return from;
  }
  // One that is neither the owner nor a keeper.
  char outsider() {
    for (char name = 'a'; name <= 'e'; ++name)
      if (name != owner() && keepers().find(name) == std::string::npos) return name;
    return '?';
  }

  std::string members = "abcde";
  std::uint64_t copies = 2, version = 1;
  TestCluster cluster{
      5, [this](std::size_t, ReplicaConfig& config) { config.placement = [this] { return placement(); }; }};
};

TEST_F(Keepers, AreTheOwnerAndThoseThatThePlacementNames) {
  found();
  EXPECT_THAT(keepers(), SizeIs(2));
  EXPECT_EQ(holders(), joinOf(keepers(), "a"));
  spendAt(outsider(), "op-1");
  ASSERT_NE(device(outsider()).answered("op-1"), nullptr);
  EXPECT_EQ(device(outsider()).answered("op-1")->outcome, kernel::Outcome::approved);
  expectWhole(joinOf(keepers(), "a"));
  EXPECT_EQ(holders(), joinOf(keepers(), "a"));
}

TEST_F(Keepers, AreTheSameAfterARestart) {
  found();
  const std::string before = holders();
  for (char name = 'a'; name <= 'e'; ++name) cluster.losePower(device(name));
  EXPECT_EQ(holders(), before);
}

TEST_F(Keepers, WhenOneLeavesForGoodAnotherMakesACopy) {
  found();
  spendAt('a', "op-1");
  const char leaving = keepers().front() == 'a' ? keepers().back() : keepers().front();
  cluster.losePower(device(leaving));
  roster(without(members, leaving), without("abcde", leaving));
  cluster.run();
  EXPECT_THAT(keepers(), SizeIs(2));
  EXPECT_EQ(holders(without("abcde", leaving)), joinOf(keepers(), "a"));
  expectWhole(keepers());
  EXPECT_TRUE(
      std::ranges::any_of(keepers(), [&](char name) { return device(name).replica().counters().copiesMade > 0; }));
}

TEST_F(Keepers, ThatHaveAllLetASurplusCopyGo) {
  foundEverywhere();
  spendAt('b', "op-1");
  EXPECT_EQ(holders(), "abcde");
  copies = 2;
  roster("abcde");
  cluster.run();
  pass();
  EXPECT_EQ(holders(), joinOf(keepers(), "a"));
  expectWhole(joinOf(keepers(), "a"));
  const char out = outsider();
  EXPECT_EQ(device(out).replica().counters().copiesReleased, 1u);
  EXPECT_TRUE(device(out).noticed("released"));
  std::size_t rows = 0;
  EXPECT_TRUE(device(out).stores[2].scan("p/budget/0/", {}, [&](auto, auto) { return ++rows, true; }).ok());
  EXPECT_TRUE(device(out).stores[2].scan("z/budget/0/", {}, [&](auto, auto) { return ++rows, true; }).ok());
  EXPECT_EQ(rows, 0u);
}

TEST_F(Keepers, ASurplusCopyStaysWhileOneOfThemIsAway) {
  foundEverywhere();
  const char out = [&] {
    copies = 2;
    return outsider();
  }();
  const char away = keepers().front() == 'a' ? keepers().back() : keepers().front();
  for (char name = 'a'; name <= 'e'; ++name)
    if (name != away) cluster.cut(device(std::min(name, away)), device(std::max(name, away)));
  spendAt('a', "op-1");
  roster("abcde");
  pass();
  ASSERT_NE(holders().find(out), std::string::npos);
  EXPECT_EQ(device(out).host().durableBatches(), device('a').host().durableBatches());
  for (char name = 'a'; name <= 'e'; ++name)
    if (name != away) cluster.connect(device(name), device(away));
  cluster.run();
  pass();
  EXPECT_EQ(holders().find(out), std::string::npos);
  expectWhole(keepers());
}

TEST_F(Keepers, ASurplusCopyGoesAfterARestartToo) {
  foundEverywhere();
  copies = 2;
  const char out = outsider();
  const char away = keepers().front() == 'a' ? keepers().back() : keepers().front();
  for (char name = 'a'; name <= 'e'; ++name)
    if (name != away) cluster.cut(device(std::min(name, away)), device(std::max(name, away)));
  roster("abcde");
  pass();
  ASSERT_NE(holders().find(out), std::string::npos);
  cluster.losePower(device(out));
  for (char name = 'a'; name <= 'e'; ++name)
    for (char other = 'a'; other < name; ++other)
      if (name == away || other == away || name == out || other == out) cluster.connect(device(other), device(name));
  cluster.run();
  pass();
  EXPECT_EQ(holders().find(out), std::string::npos);
  expectWhole(keepers());
}

// It has the roster by which the copy would be surplus; the keepers have not, and would give up theirs by their own.
TEST_F(Keepers, ASurplusCopyStaysWhileAKeeperHasAnOlderRoster) {
  foundEverywhere();
  copies = 2;
  const char out = outsider();
  roster("abcde", std::string(1, out));
  pass();
  ASSERT_NE(holders().find(out), std::string::npos);
  for (const char name : without("abcde", out)) device(name).replica().rosterChanged();
  pass();
  EXPECT_EQ(holders().find(out), std::string::npos);
}

TEST_F(Keepers, AnOwnerKeepsACopyWhoeverElseDoes) {
  foundEverywhere();
  const std::string others = without("abcde", 'a');
  copies = 2;
  // No placement over other members names it.
  roster(others);
  pass();
  EXPECT_EQ(holders(), joinOf(keepers(), "a"));
  spendAt('b', "op-1");
  expectWhole(joinOf(keepers(), "a"));
  ASSERT_TRUE(device('a').replica().transferOwnership(kPartition, keepers().substr(0, 1), "", at(device('a').ms)).ok());
  cluster.run();
  EXPECT_EQ(owner(), keepers().front());
  pass();
  EXPECT_EQ(holders(), keepers());
}

// What it decided before comes back from others, and that is no disk that went back.
TEST_F(Keepers, WhoGaveACopyUpMayGetItBack) {
  foundEverywhere();
  spendAt('a', "op-1");
  ASSERT_TRUE(device('a').replica().transferOwnership(kPartition, "b", "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), 'b');
  copies = 2;
  roster("bcde");
  pass();
  ASSERT_EQ(holders().find('a'), std::string::npos);
  cluster.losePower(device('a'));
  EXPECT_EQ(holders().find('a'), std::string::npos);
  for (const char name : std::string("bcde")) cluster.connect(device('a'), device(name));
  copies = 9;
  roster("abcde");
  pass();
  expectWhole("abcde");
  EXPECT_FALSE(device('a').hasIncident("wentBack"));
  EXPECT_FALSE(device('a').replica().heads().contradicted(device('a').host()).has_value());
  ASSERT_TRUE(device('b').replica().transferOwnership(kPartition, "a", "", at(device('b').ms)).ok());
  cluster.run();
  spendAt('c', "op-2");
  EXPECT_EQ(owner(), 'a');
  EXPECT_THAT(device('c').decided(), ElementsAre("op-1", "op-2"));
}

TEST_F(Keepers, APartitionIsMovedAndSeizedOnlyWhereACopyIs) {
  found();
  const char out = outsider();
  const Status moved = device('a').replica().transferOwnership(kPartition, std::string(1, out), "", at(0));
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
  cluster.losePower(device('a'));
  const Status seized = device(out).replica().forceTakeover(kPartition, "gone", at(0));
  ASSERT_FALSE(seized.ok());
  EXPECT_EQ(seized.error().code, ErrorCode::conflict);
}

// It gives up its copy just when the owner hands the partition over to it: it makes one again, and goes on.
TEST_F(Keepers, ASuccessorWithoutACopyMakesOne) {
  foundEverywhere();
  copies = 2;
  const char out = outsider();
  cluster.lose = [&](const TestCluster::Frame& frame) {
    return frame.from[0] == out && frame.to == "a" && typeOf(frame.bytes) == AdjudicationFrame::standing;
  };
  roster("abcde");
  pass();
  ASSERT_EQ(holders().find(out), std::string::npos);
  cluster.lose = {};
  ASSERT_TRUE(device('a').replica().transferOwnership(kPartition, std::string(1, out), "", at(device('a').ms)).ok());
  cluster.run();
  pass();
  EXPECT_EQ(owner(), out);
  spendAt('a', "op-1");
  EXPECT_THAT(device(out).decided(), ElementsAre("op-1"));
}

// A crash in the middle leaves rows, which the next start takes out.
TEST_F(Keepers, ARemovalThatACrashInterruptedIsFinished) {
  foundEverywhere();
  copies = 2;
  const char out = outsider();
  store::WriteBatch mark;
  mark.put("q/budget/0", std::string("\0\0\0\0\0\0\0\1-", 9));
  ASSERT_TRUE(device(out).stores[2].writeSynced(mark).ok());
  ++version;
  cluster.losePower(device(out));
  std::size_t rows = 0;
  EXPECT_TRUE(device(out).stores[2].scan("z/budget/0/", {}, [&](auto, auto) { return ++rows, true; }).ok());
  EXPECT_TRUE(device(out).stores[2].scan("p/budget/0/l", {}, [&](auto, auto) { return ++rows, true; }).ok());
  EXPECT_EQ(rows, 0u);
  EXPECT_EQ(holders().find(out), std::string::npos);
}

// A device whose disk is full from write `n` on, while it is made one that keeps a copy.
class KeeperWithoutRoom : public Keepers, public ::testing::WithParamInterface<std::uint64_t> {};

// It says so and ends. Who is to give up a copy keeps it until the new one is whole on its disk, and with room it goes
// on from what it has.
TEST_P(KeeperWithoutRoom, LosesNothingAndGoesOnWithRoom) {
  const char made = keepers().front() == 'a' ? keepers().back() : keepers().front();
  const std::string others = without("abcde", made);
  roster(others);
  found();
  pass();
  for (int n = 0; n < 12; ++n) spendAt('a', "op-" + std::to_string(n));
  const std::string before = holders();
  ASSERT_EQ(before.find(made), std::string::npos);

  device(made).stores[2].failAt(GetParam(), store::Moment::before);
  std::deque<TestCluster::Frame> held;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    const bool its = frame.to[0] == made;
    if (its) held.push_back(frame);
    return its;
  };
  roster("abcde");
  const std::string after = joinOf(keepers(), "a");
  ASSERT_TRUE(std::ranges::any_of(before, [&](char name) { return after.find(name) == std::string::npos; }));
  bool full = !device(made).drain().ok();  // it opens a new copy
  while (!full) {
    if (held.empty()) cluster.run();
    if (held.empty()) break;
    cluster.hand(held.front());
    held.pop_front();
    full = !device(made).drain().ok();
  }
  ASSERT_TRUE(full);
  cluster.lose = {};
  for (const char other : others) cluster.cut(device(std::min(made, other)), device(std::max(made, other)));
  device(made).stores[2].reopen();
  device(made).sends.clear();
  device(made).start();
  pass();
  EXPECT_EQ(holders(others), before);
  expectWhole(before);

  for (const char other : others) cluster.connect(device(std::min(made, other)), device(std::max(made, other)));
  cluster.run();
  pass();
  EXPECT_EQ(holders(), joinOf(keepers(), "a"));
  expectWhole(holders());
  EXPECT_THAT(device(made).decided(), SizeIs(12));
  EXPECT_FALSE(device(made).hasIncident("wentBack"));
}

INSTANTIATE_TEST_SUITE_P(AtEachWrite, KeeperWithoutRoom, ::testing::Range(std::uint64_t{0}, std::uint64_t{12}));

}  // namespace
}  // namespace witan::node::test::keepers_test
