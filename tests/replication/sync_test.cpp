// Whole sessions between devices with stores in memory.
#include "tests/replication/cluster.h"

namespace witan::replication::test::sync_test {
namespace {

TEST(Sync, TwoDevicesHeal) {
  Device a("a"), b("b");
  a.write("agent-1", failures(3));
  a.write("agent-2", failures(1));
  b.write("agent-1", failures(5));
  sync(a, b);
  expectEqual(a, b);
  EXPECT_EQ(a.antichain("agent-1").size(), 2u);
  EXPECT_EQ(a.view("agent-1").consecutiveFailureCount, 5u);
  b.write("agent-1", failures(0));
  sync(a, b);
  expectEqual(a, b);
  EXPECT_EQ(a.antichain("agent-1").size(), 1u);
}

TEST(Sync, EqualReplicasExchangeOneGreeting) {
  Device a("a"), b("b");
  a.write("agent-1", failures(3));
  sync(a, b);
  Link link(a, b);
  EXPECT_LE(link.run(), 2u);
  EXPECT_LT(link.bytes(), 2000u);
  EXPECT_EQ(link.ofA().stats().segmentsOut, 0u);
}

TEST(Sync, RelayThroughAThirdDevice) {
  Device a("a"), b("b"), c("c");
  a.write("agent-1", failures(1));
  sync(a, b);
  sync(b, c);
  EXPECT_EQ(c.view("agent-1").consecutiveFailureCount, 1u);
  c.write("agent-1", failures(2));
  sync(b, c);
  sync(a, b);
  expectEqual(a, c);
}

TEST(Sync, LiveUpdatesTravelAsFieldDeltas) {
  Device a("a"), b("b");
  a.write("agent-1", [](AgentState& s, const std::string& host) {
    s.slots[0] = {"\"" + std::string(64, 'x') + "\"", 1, host};
  });
  Link link(a, b);
  link.run();
  const std::uint64_t before = link.ofA().stats().bytesOut;
  a.write("agent-1", failures(1));
  link.run();
  expectEqual(a, b);
  EXPECT_LE(link.ofA().stats().bytesOut - before, 90u);
}

TEST(Sync, AReopenedStoreHoldsTheSame) {
  Device a("a"), b("b");
  for (int i = 0; i < 50; ++i) a.write("agent-" + std::to_string(i % 7), failures(i));
  sync(a, b);
  const Digest digest = b.agents().digest();
  b.crash();
  EXPECT_EQ(b.agents().digest(), digest);
  expectEqual(a, b);
}

}  // namespace
}  // namespace witan::replication::test::sync_test
