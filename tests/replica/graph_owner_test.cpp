// Graphs whose owner changes amid a run, and agents that two devices host: the same steps, each effect once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/graph_world.h"

namespace witan::node::test::graph_owner_test {
namespace {

using ::testing::SizeIs;

constexpr std::string_view kGraphs = "graph/0";

struct World {
  World() : cluster(2, [](std::size_t, ReplicaConfig& config) { configureGraphs(config); }) { cluster.found(); }

  bool ended(Device& device) const {
    const auto run = driver.run(device);
    return run && run->status != "running";
  }
  // Rounds at which people and producers act at `device`. Whether the run has ended.
  bool rounds(Device& device, int most) {
    for (int round = 0; round < most && !ended(device); ++round) {
      driver.act(device);
      step();
      for (Device* each : {&cluster.a(), &cluster.b()})
        each->passTime(std::clamp<std::int64_t>(each->replica().nextTickMs() - each->ms, 1, 1'000));
    }
    return ended(device);
  }
  void step() {
    cluster.collect();
    for (std::deque<TestCluster::Frame> frames = std::exchange(cluster.underWay, {}); !frames.empty();
         frames.pop_front())
      cluster.hand(frames.front());
  }

  TestCluster cluster;
  GraphDriver driver;
};

std::vector<std::string> spansOfWhole() {
  World whole;
  EXPECT_TRUE(whole.rounds(whole.cluster.a(), 500));
  return finishedSpans(whole.cluster.a());
}

TEST(GraphOwners, TwoDevicesThatHostAnAgentMakeOneRun) {
  World world;
  ASSERT_TRUE(world.rounds(world.cluster.a(), 500));
  world.cluster.run();
  EXPECT_EQ(world.driver.run(world.cluster.a())->status, "completed");
  EXPECT_THAT(finishedSpans(world.cluster.a()), SizeIs(6));
  EXPECT_EQ(finishedSpans(world.cluster.b()), finishedSpans(world.cluster.a()));
  EXPECT_THAT(journalOf(world.cluster.a()), SizeIs(1));
  EXPECT_EQ(journalOf(world.cluster.b()), journalOf(world.cluster.a()));
}

// The owner goes after each number of rounds in turn; the other device takes the partition over.
TEST(GraphOwners, ASeizureAmidARunChangesNothing) {
  const auto spans = spansOfWhole();
  int seized = 0, finishedAlone = 0;
  for (int before = 1;; ++before) {
    World world;
    Device &a = world.cluster.a(), &b = world.cluster.b();
    if (world.rounds(a, before)) break;
    world.cluster.cut(a, b);
    ASSERT_TRUE(b.replica().forceTakeover(kGraphs, "the owner is gone", at(b.ms)).ok());
    // A body that only the old owner has: the graph waits until it comes.
    const bool alone = world.rounds(b, 300);
    EXPECT_EQ(alone, b.replica().graphs()->waitsFor("loop").empty()) << "after " << before;
    world.cluster.connect(a, b);
    ASSERT_TRUE(world.rounds(b, 500)) << "after " << before << ": " << b.replica().graphs()->waitsFor("loop");
    EXPECT_EQ(world.driver.run(b)->status, "completed") << "after " << before;
    finishedAlone += alone ? 1 : 0;
    for (int round = 0; round < 5; ++round) {
      world.cluster.run();
      for (Device* each : {&a, &b}) each->passTime(1'000);
    }
    EXPECT_EQ(finishedSpans(b), spans) << "after " << before;
    EXPECT_EQ(finishedSpans(a), spans) << "after " << before;
    EXPECT_THAT(journalOf(b), SizeIs(1)) << "after " << before;
    ++seized;
  }
  EXPECT_GT(seized, 10);
  EXPECT_GT(finishedAlone, 5);
}

TEST(GraphOwners, AHandoverAmidARunChangesNothing) {
  const auto spans = spansOfWhole();
  for (int before = 2; before < 12; ++before) {
    World world;
    Device &a = world.cluster.a(), &b = world.cluster.b();
    if (world.rounds(a, before)) break;
    ASSERT_TRUE(a.replica().transferOwnership(kGraphs, "b", "test", at(a.ms)).ok());
    world.cluster.run();
    ASSERT_TRUE(world.rounds(b, 500)) << "after " << before;
    world.cluster.run();
    EXPECT_EQ(finishedSpans(a), spans) << "after " << before;
    EXPECT_THAT(journalOf(b), SizeIs(1)) << "after " << before;
  }
}

// A producer at a device that does not own the partition: its message goes to the owner, once.
TEST(GraphOwners, AMessageFromElsewhereEntersOnce) {
  World world;
  Device &a = world.cluster.a(), &b = world.cluster.b();
  ASSERT_TRUE(world.rounds(a, 500));
  const auto send = [&](const std::string& operation, const std::string& body) {
    ASSERT_TRUE(b.replica().enqueue(ingressRequest("loop", "in", "y", operation, body), at(b.ms)).ok());
    for (int round = 0; round < 4; ++round) world.cluster.run();
  };
  send("y-1", R"({"left":0,"topic":"milk"})");
  ASSERT_NE(b.answered("y-1"), nullptr);
  EXPECT_EQ(b.answered("y-1")->outcome, kernel::Outcome::approved);
  send("y-2", R"({"left":0,"topic":"milk"})");
  EXPECT_EQ(b.answered("y-2")->outcome, kernel::Outcome::duplicate);
  send("y-3", R"({"left":99,"topic":"milk"})");
  EXPECT_EQ(b.answered("y-3")->outcome, kernel::Outcome::refused);
  EXPECT_EQ(b.answered("y-3")->message, "schema");
}

}  // namespace
}  // namespace witan::node::test::graph_owner_test
