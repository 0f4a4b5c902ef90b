// Who leaves a cluster and comes back, on the real core.
#include <algorithm>

#include "replication/records/record_schemas.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test::retirement_test {
namespace {

class Retirement : public ::testing::Test {
 protected:
  void SetUp() override {
    state(a, admit({}, a.replica().writer(), "a", 1, "a"));
    for (Device* device : {&b, &d}) state(a, admit(known(a), a.replica().writer(), device->name(), 1, device->name()));
    meet(), meet();
    for (Device* device : {&a, &b, &d})
      for (int i = 0; i < 3; ++i) device->write(device->name() + std::to_string(i), failures(1));
    meet(), meet();
    oldWriter = d.replica().writer();
  }
  static std::vector<Statement> known(Device& device) { return device.replica().statements().value(); }
  static void state(Device& device, const Statement& statement) {
    ASSERT_TRUE(device.replica().addStatement(statement).ok());
    device.flush();
  }
  void meet() { sync(a, b), sync(a, d), sync(b, d); }
  // A session that may end early; why it did, at x.
  static std::string tryToSync(Device& x, Device& y) {
    Link link(x, y);
    link.run();
    return link.ofA().closeCode();
  }
  // `options`: of the sessions until it is retired.
  void retireD(const SessionOptions& options = {}) {
    state(a, proposeRetire(known(a), a.replica().writer(), "d", 1));
    sync(a, b, options);
    for (Device* device : {&a, &b}) {
      ClocksBySpace committed;
      for (const std::string& id : device->replica().spaceIds())
        committed[id] = device->replica().findSpace(id)->clock();
      state(*device, retireAck(known(*device), device->replica().writer(), "d", 1,
                               countersToAck(*device->replica().membership(), committed)));
    }
    sync(a, b, options);
    ASSERT_EQ(a.replica().membership()->standing("d"), Standing::retired);
    for (Device* device : {&a, &b}) ASSERT_TRUE(device->replica().stabilise().ok());
    a.flush(), b.flush();
  }

  Device a{"a", 1}, b{"b", 2}, d{"d", 3};
  std::string oldWriter;
};

// What a replica keeps of the members is read anew when a statement comes and when the roster changes.
TEST_F(Retirement, MembersAreReadAnewAtEachCause) {
  const auto ofD = [](Device& device) { return device.replica().membership()->standing("d"); };
  bool may = false;
  for (Device* device : {&a, &b}) ASSERT_EQ(ofD(*device), Standing::active);
  state(a, proposeRetire(known(a), a.replica().writer(), "d", 1));
  EXPECT_EQ(ofD(a), Standing::retiring) << "its own statement";
  sync(a, b);
  EXPECT_EQ(ofD(b), Standing::retiring) << "another's statement";
  a.replica().retireOnly([&](std::string_view) { return may; });
  EXPECT_EQ(ofD(a), Standing::active) << "another rule";
  may = true;
  a.replica().rosterChanged();
  EXPECT_EQ(ofD(a), Standing::retiring) << "another roster";
}

// Who has tidied up looks again when there are acknowledgements, members or versions, and when a restore is over.
TEST_F(Retirement, WhatWaitsIsTidiedUpAtEachCause) {
  const std::string id = LocalReplica::spaceId(DatabaseName::agents, "main");
  const auto stays = [&](const std::string& key) {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(a.replica().stabilise().ok());
    return !a.agents().versions(Kind::agentState, key)->empty();
  };
  const auto removeHere = [&](const std::string& key) {
    const Write write{Kind::agentState, key, "", true};
    ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&write, 1}).ok());
    a.flush();
  };
  removeHere("a0");
  sync(a, b);
  EXPECT_TRUE(stays("a0"));
  sync(a, d);
  EXPECT_FALSE(stays("a0")) << "the last acknowledgement has come";
  removeHere("b0");
  EXPECT_TRUE(stays("b0"));
  sync(a, b), sync(a, d);
  a.replica().setRestored(id, true);
  EXPECT_TRUE(stays("b0")) << "it may be an older copy";
  a.replica().setRestored(id, false);
  EXPECT_FALSE(stays("b0")) << "it is whole";
  removeHere("b1");
  sync(a, b);
  EXPECT_TRUE(stays("b1"));
  retireD();
  EXPECT_FALSE(stays("b1")) << "who holds it up has left";
}

TEST_F(Retirement, ARetiredDeviceGetsMembershipOnly) {
  d.write("orphan", failures(7));
  retireD();
  b.write("news", failures(5));
  tryToSync(b, d);
  EXPECT_EQ(d.replica().membership()->standing("d"), Standing::retired) << "it is told";
  EXPECT_TRUE(d.antichain("news").empty());
  EXPECT_TRUE(b.antichain("orphan").empty()) << "and nothing is taken from it";
}

// The session in which a device learns of the proposal ends; so does one that was open when it was made.
TEST_F(Retirement, AnOpenSessionEndsWhenThePeerIsToLeave) {
  Link live(b, d);
  live.run();
  ASSERT_EQ(live.ofA().state(), SessionState::running);
  state(a, proposeRetire(known(a), a.replica().writer(), "d", 1));
  sync(a, b);
  d.write("late", failures(9));
  live.run();
  EXPECT_EQ(live.ofA().state(), SessionState::closed);
  EXPECT_EQ(live.ofA().closeCode(), "retired");
  EXPECT_TRUE(b.antichain("late").empty());
}

// The entries of a retired writer leave the greeting.
TEST_F(Retirement, ItsWriterLeavesTheWire) {
  const auto counters = [&] {
    SessionOptions options;
    options.peer = "b";
    SyncSession session(a.replica(), options, 0);
    std::string out;
    session.produce(out, std::size_t{1} << 30, 0);
    std::size_t entries = 0;
    for (const std::string& frame : framesOf(out)) {
      if (frame[4] != static_cast<char>(FrameType::spaces)) continue;
      const auto words = *alignedWords(std::string_view(frame).substr(kFrameHeaderBytes));
      Spaces spaces;
      EXPECT_TRUE(readFrame({reinterpret_cast<const char*>(words.data()), words.size() * 8}, spaces).ok());
      for (const SpaceSummary& s : spaces.spaces) {
        DenseReader vector(asText(s.vector));
        for (; vector.ok() && !vector.atEnd(); ++entries) (void)vector.varint();
      }
    }
    return entries;
  };
  const std::size_t before = counters();
  retireD();
  EXPECT_EQ(counters(), before - a.replica().spaceIds().size());
  Link link(a, b);
  link.run();
  EXPECT_EQ(link.ofA().stats().segmentsOut, 0u);
  EXPECT_EQ(link.ofA().stats().repairs, 0u);
}

// A newcomer who never heard of the retired writer gets what it wrote all the same, without an alarm.
TEST_F(Retirement, ANewcomerGetsWhatTheRetiredOneWrote) {
  retireD();
  Device c("c", 4);
  state(a, admit(known(a), a.replica().writer(), "c", 1, "c"));
  sync(a, c);
  sync(a, c);
  expectEqual(a, c);
  EXPECT_EQ(c.antichain("d0").size(), 1u);
  EXPECT_TRUE(c.incidents().empty());
  EXPECT_TRUE(a.incidents().empty());
}

// An active device that never had the retired writer's space: equal lists of live writers, and yet it lacks everything
// of the retired one.
TEST_F(Retirement, EqualListsOfLiveWritersDoNotHideThatOneLacksTheRetiredOne) {
  // In a scope of its own, d's work reaches a only.
  AgentState stateOfIt;
  const Write only{Kind::agentState, "only", encodeAgentState(stateOfIt, d.replica().writer()), false};
  ASSERT_TRUE(d.replica().commit(DatabaseName::agents, "side", {&only, 1}).ok());
  d.flush();
  SessionOptions notSide;
  notSide.mayHave = [](DatabaseName, std::string_view scope) { return scope != "side"; };
  sync(a, d);
  ASSERT_TRUE(b.replica().database(DatabaseName::agents).space("side").ok());
  ASSERT_TRUE(a.replica().database(DatabaseName::agents).find("side")->intern(b.replica().writer()).ok());
  ASSERT_TRUE(b.replica().database(DatabaseName::agents).find("side")->intern(a.replica().writer()).ok());
  retireD(notSide);
  sync(a, b);
  EXPECT_EQ(b.agents("side").keys(Kind::agentState), (std::vector<std::string>{"only"}));
  EXPECT_EQ(a.agents("side").clock(), b.agents("side").clock());
  EXPECT_EQ(count(a.incidents(), "digestAlarm") + count(b.incidents(), "digestAlarm"), 0u);
}

// It comes back under a new admission, with a new writer: what nobody had seen of it is not lost, what was superseded
// and tidied away meanwhile does not come back.
TEST_F(Retirement, AReturningDeviceLosesNothingAndBringsNothingStaleBack) {
  d.write("orphan", failures(7));  // above its final counter
  retireD();
  b.write("d0", failures(2));
  const Write gone{Kind::agentState, "d1", "", true};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
  for (int round = 0; round < 3; ++round) {
    sync(a, b);
    ASSERT_TRUE(a.replica().stabilise().ok() && b.replica().stabilise().ok());
  }
  ASSERT_TRUE(a.antichain("d1").empty());
  // Welcomed by a, without knowing that it ever was retired.
  state(a, admit(known(a), a.replica().writer(), "d", a.replica().membership()->nextAdmission("d"), "d"));
  sync(a, d);
  ASSERT_EQ(d.replica().membership()->standing("d"), Standing::active);
  EXPECT_NE(d.replica().writer(), oldWriter);
  d.write("d-new", failures(3));
  for (int round = 0; round < 2; ++round) meet();
  expectEqual(a, b);
  expectEqual(a, d);
  EXPECT_EQ(b.antichain("orphan").size(), 1u);
  EXPECT_EQ(b.antichain("d-new").size(), 1u);
  EXPECT_EQ(d.view("d0").consecutiveFailureCount, 2u);
  EXPECT_EQ(d.antichain("d0").size(), 1u);
  EXPECT_TRUE(d.antichain("d1").empty());
  for (Device* device : {&a, &b, &d}) EXPECT_EQ(count(device->incidents(), "equivocation"), 0u);
}

}  // namespace
}  // namespace witan::replication::test::retirement_test
