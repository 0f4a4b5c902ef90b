// Graphs at work on devices: each step in the ledger, each effect once, whatever is lost on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replica/graph_world.h"

namespace witan::node::test::graph_test {
namespace {

using ::testing::SizeIs;

std::string failure;  // of a store, the last

bool ended(Device& device, const GraphDriver& driver) {
  const auto run = driver.run(device);
  return run && run->status != "running";
}

void advance(Device& device) {
  device.passTime(std::clamp<std::int64_t>(device.replica().nextTickMs() - device.ms, 1, 1'000));
}

// Rounds until the run has ended; after a failure of a store the device starts again.
int finish(Device& device, GraphDriver& driver) {
  int crashes = 0;
  for (int round = 0; round < 600 && !ended(device, driver); ++round) {
    driver.act(device);
    if (const Status drained = device.drain(); !drained.ok()) {
      failure = drained.error().message;
      device.losePower();
      ++crashes;
    }
    advance(device);
  }
  for (int round = 0; round < 5; ++round) {
    if (!device.drain().ok()) device.losePower(), ++crashes;
    advance(device);
  }
  return crashes;
}

std::unique_ptr<Device> founded() {
  auto device = std::make_unique<Device>("a", configureGraphs);
  EXPECT_TRUE(device->replica().bootstrap(at(0)).ok());
  const Status drained = device->drain();
  EXPECT_TRUE(drained.ok()) << drained.error().message;
  return device;
}

std::string words(Device& device) {
  std::string all;
  for (const Notice& notice : device.notices) all += notice.kind + ": " + notice.what + "\n";
  for (const Answer& answer : device.answers)
    all += answer.operationId + ": " + answer.invariant + " " + answer.message + "\n";
  return all;
}

TEST(Graphs, ARunGoesThroughAgentPersonAndJournal) {
  const auto device = founded();
  GraphDriver driver;
  finish(*device, driver);
  const auto run = driver.run(*device);
  ASSERT_TRUE(run) << words(*device);
  EXPECT_EQ(run->status, "completed") << words(*device);
  EXPECT_EQ(run->deliveries, 6);
  EXPECT_THAT(finishedSpans(*device), SizeIs(6));
  EXPECT_THAT(journalOf(*device), SizeIs(1));
}

// The power goes at each write of each store in turn.
TEST(Graphs, ADeathAtAnyWriteChangesNothing) {
  const auto whole = founded();
  GraphDriver driver;
  finish(*whole, driver);
  const auto spans = finishedSpans(*whole);
  const auto entries = journalOf(*whole);
  int died = 0;
  for (std::size_t disk = 0; disk < 3; ++disk)
    for (std::uint64_t write = 0;; ++write) {
      const auto device = founded();
      GraphDriver again;
      device->stores[disk].crashAt(write, write % 2 == 0 ? store::Moment::before : store::Moment::after);
      const int crashes = finish(*device, again);
      if (crashes == 0) break;
      died += crashes;
      ASSERT_EQ(finishedSpans(*device), spans) << "disk " << disk << ", write " << write << "\n" << words(*device);
      ASSERT_EQ(journalOf(*device), entries) << "disk " << disk << ", write " << write;
      ASSERT_EQ(again.run(*device)->status, "completed");
    }
  EXPECT_GT(died, 20);
}

}  // namespace
}  // namespace witan::node::test::graph_test
