// Whole sessions between devices with stores in memory.
#include <algorithm>
#include <map>
#include <span>

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

auto registerOf(const std::string& value) {
  return [value](AgentState& s, const std::string& host) { s.slots[0] = {value, s.slots[0].version + 1, host}; };
}

// The frame that carries a's next update of an agent's register.
std::string updateOf(Device& a, Link& link, const std::string& agent, int number) {
  a.write(agent, registerOf(concat("\"0123456789", 100'000 + number, "\"")));
  link.say(std::size_t{1} << 30);
  EXPECT_EQ(link.queueToB().size(), 1u);
  const std::string frame = link.queueToB().empty() ? "" : link.queueToB().front();
  link.run();
  return frame;
}

// However long its key is, from the third on.
TEST(Live, AnUpdateOfARegisterTakes48BytesAtMost) {
  for (const std::string& agent : {std::string("register"), std::string(200, 'k')}) {
    Device a("a"), b("b");
    a.write(agent, registerOf("1"));
    Link link(a, b);
    link.run();
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 17'000; ++i) sizes.push_back(updateOf(a, link, agent, i).size());
    EXPECT_GE(sizes[0], 32 + agent.size()) << "by its key";
    EXPECT_GE(sizes[1], 32 + agent.size()) << "with the alias that it is given";
    EXPECT_LE(std::ranges::max(std::span(sizes).subspan(2)), 48u);
    expectEqual(a, b);
  }
}

// Two keys whose alias would be the same one go by their keys, or take it from each other.
TEST(Live, KeysOfOneAliasAreNotTakenForEachOther) {
  Device a("a"), b("b");
  std::map<std::uint8_t, std::string> byAlias;
  std::string one, other;
  for (int i = 0; other.empty(); ++i) {
    const std::string agent = concat("agent-", i);
    a.write(agent, registerOf("0"));
    const auto alias = static_cast<std::uint8_t>(a.agents().table().hashOf(Kind::agentState, agent));
    const auto [at, fresh] = byAlias.emplace(alias, agent);
    if (!fresh) one = at->second, other = agent;
  }
  Link link(a, b);
  link.run();
  for (int i = 0; i < 40; ++i) updateOf(a, link, i % 8 < 4 ? one : other, i);
  for (int i = 0; i < 40; ++i) updateOf(a, link, i % 2 == 0 ? one : other, i);
  EXPECT_EQ(link.ofB().state(), SessionState::running) << link.ofB().closeReason();
  EXPECT_EQ(link.ofB().stats().retries, 0u);
  expectEqual(a, b);
}

// What a frame means by an alias is known in its session only.
TEST(Live, AliasesEndWithTheSession) {
  const std::string agent(60, 'k');
  Device a("a"), b("b");
  a.write(agent, registerOf("1"));
  sync(a, b);
  std::string last;
  {
    Link link(a, b);
    link.run();
    for (int i = 0; i < 4; ++i) last = updateOf(a, link, agent, i);
  }
  Link link(a, b);
  link.run();
  EXPECT_GT(updateOf(a, link, agent, 5).size(), 48u) << "by its key again";
  for (int i = 6; i < 9; ++i) EXPECT_GT(updateOf(a, link, agent, i).size(), 0u);
  expectEqual(a, b);
  Link third(a, b);
  third.run();
  EXPECT_FALSE(third.ofB().receive(last, 0).ok());
  EXPECT_EQ(third.ofB().closeCode(), "protocol");
  EXPECT_NE(third.ofB().closeReason().find("never given"), std::string::npos) << third.ofB().closeReason();
}

// Both ends write the same register, so that deltas find no base and come again in full; aliases stay.
TEST(Live, AliasesOutliveARetry) {
  Device a("a"), b("b");
  a.write("register", [](AgentState& s, const std::string& host) {
    s.slots[1] = {"\"" + std::string(64, 'x') + "\"", 1, host};
  });
  Link link(a, b);
  link.run();
  for (int i = 0; i < 20; ++i) {
    a.write("register", registerOf(concat(i)));
    b.write("register", registerOf(concat(100 + i)));
    link.run();
    for (int more = 0; more < 3; ++more) a.write("register", registerOf(concat(1000 * i + more))), link.run();
  }
  EXPECT_GT(link.ofB().stats().retries, 0u);
  EXPECT_EQ(link.ofA().state(), SessionState::running) << link.ofA().closeReason();
  expectEqual(a, b);
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
