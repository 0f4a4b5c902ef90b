// Corners of sync that generated histories or a second look found, each as the shortest story that leads there.
#include "replication/writer.h"
#include "tests/replication/rule_stories.h"

namespace witan::replication::test::sync_corners_test {
namespace {

// The delta of b's second version has no base at a any more; the session breaks before it comes in full. What a resumes
// from must not lie behind it.
TEST(SyncCorners, AResumeTokenOfAVoidAttemptIsNotKept) { EXPECT_TRUE(aSessionBreaksBeforeTheRetry()); }

TEST(SyncCorners, AStableTombstoneGoesEvenBesideAnotherVersion) {
  Device a("a"), b("b");
  admit(a, a);
  admit(a, b);
  sync(a, b);
  a.write("agent-1", bulkyFailures(1));
  sync(a, b);
  remove(a, "agent-1");
  b.write("agent-1", bulkyFailures(2));
  for (int i = 0; i < 3; ++i) sync(a, b);
  stabilise(a);
  stabilise(b);
  for (Device* device : {&a, &b}) {
    const auto versions = device->agents().versions(Kind::agentState, "agent-1");
    ASSERT_EQ(versions->size(), 1u);
    EXPECT_FALSE(versions->front().tombstone);
  }
}

// c passes a:2 on to d before its round is complete, overwrites it, and only then gets the older a:1. Nothing of a's is
// held then that is younger, and yet the walk has been past a:1.
TEST(SyncCorners, AnOlderVersionArrivesAfterAYoungerOneWasPassedOnAndSuperseded) {
  EXPECT_TRUE(anOlderVersionArrivesLater());
}

// The same with two records of one commit, of which one arrives later.
TEST(SyncCorners, PartOfACommitArrivesAfterTheRestWasPassedOn) {
  Device a("a"), b("b"), c("c"), d("d"), e("e"), f("f");
  const std::string body = encodeAgentState({}, a.replica().writer());
  const Write both[] = {{Kind::agentState, "agent-1", body, false}, {Kind::agentState, "agent-2", body, false}};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", both).ok());
  sync(a, f);
  sync(f, b);
  b.write("agent-1", bulkyFailures(2));
  sync(a, b);
  cutOnce(a, e, [&] { return !e.antichain("agent-2").empty(); });
  ASSERT_TRUE(e.antichain("agent-1").empty());

  Link live(c, d);
  live.run();
  sync(c, e);
  live.run();
  ASSERT_EQ(d.antichain("agent-2").size(), 1u);
  sync(c, f);
  live.run();
  EXPECT_EQ(d.antichain("agent-1").size(), 1u);
  expectEqual(c, d);
  expectNoIncidents(c);
}

// s has admitted n and then acknowledges a's version. b hears the acknowledgement, and the session breaks before it
// hears of n: it must not count, or b strips what n still needs whole.
TEST(SyncCorners, AnAckDoesNotCountBeforeTheStatementsOfItsDevice) { EXPECT_TRUE(anAckComesBeforeItsStatements()); }

// A space whose name comes before the cluster's is no reason to send its records before the statements.
TEST(SyncCorners, StatementsGoFirstWhateverTheScopesAreCalled) {
  Device a("a"), b("b");
  const Write write{Kind::agentState, "agent-1", encodeAgentState({}, a.replica().writer()), false};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "abc", {&write, 1}).ok());
  a.flush();
  sync(a, b);
  admit(a, a);
  admit(a, b);
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "abc", {&write, 1}).ok());
  cutOnce(a, b, [&] { return b.agents("abc").versions(Kind::agentState, "agent-1")->front().dot.counter == 2; });
  EXPECT_EQ(b.replica().membership()->active.size(), 2u);
}

// What a device passes on from a peer's unfinished round is above its vector, so no commit covers it; it is
// acknowledged all the same, and a session at rest is not taken for a silent one.
TEST(SyncCorners, WhatNoCommitCoversIsAcknowledged) {
  Device a("a"), b("b"), c("c");
  for (int i = 0; i < 20; ++i)
    c.write("agent-" + std::to_string(i), [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
  SessionOptions small;
  small.segmentBytes = 1;
  Link unfinished(c, b, small);
  ASSERT_TRUE(unfinished.runUntilCut(16));
  ASSERT_FALSE(b.agents().settled());
  Link link(a, b);
  link.run();
  ASSERT_GT(link.ofB().stats().segmentsOut, 0u);
  link.ofB().tick(10'000'000);
  link.ofA().tick(10'000'000);
  EXPECT_EQ(link.ofB().state(), SessionState::running) << link.ofB().closeReason();
  EXPECT_EQ(link.ofA().state(), SessionState::running) << link.ofA().closeReason();
}

// A table of acknowledgements says equal ones once, and is read as it was; a peer that does not know such rows gets
// none.
TEST(Acks, OfManyDevicesAreSaidOnce) {
  Device a("a"), b("b");
  VectorClock all, fewer;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) {
    names.push_back(concat("device-", i));
    const std::string writer = names.back() + "@00000001";
    ASSERT_TRUE(a.agents().intern(writer).ok());
    all.set(writer, 5), fewer.set(writer, i % 2 + 1);
  }
  std::map<std::string, VectorClock, std::less<>> table;
  for (const std::string& name : names) table[name] = all;
  table["device-7"] = fewer;
  table[std::string(kForgotten)] = fewer;  // before all devices
  table["visitor"] = all;                  // it writes nothing
  SpaceSync from(a.agents(), DatabaseName::agents, {}, {}), other(a.agents(), DatabaseName::agents, {}, {}),
      to(b.agents(), DatabaseName::agents, {}, {});
  const std::string rows = from.ackRows(table, true), plain = other.ackRows(table, false);
  EXPECT_LT(rows.size() * 10, plain.size());
  auto applied = to.readClockRows(rows);
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  std::map<std::string, VectorClock, std::less<>> read;
  for (const DeviceAcks& group : applied->deviceAcks) {
    read[group.device] = to.named(group.clock);
    for (const WriterIndex writer : group.alike)
      read[std::string(deviceOf(b.agents().writers().name(writer)))] = to.named(group.clock);
  }
  EXPECT_EQ(read, table);
}

// Of tag 10: each message is of about the size that it may have, begins with what was forgotten and what most have, and
// in the end all was told.
TEST(Acks, OfManyDevicesAreToldInParts) {
  Device a("a"), b("b");
  AckTable::Devices table, read;
  VectorClock all;
  for (int i = 0; i < 300; ++i) all.set(concat("device-", i, "@00000001"), 1);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(a.agents().intern(concat("device-", i, "@00000001")).ok());
    table[concat("device-", i)] = all;
    if (i % 10 != 0) continue;
    VectorClock fewer;  // each another one
    for (int writer = 0; writer <= i; writer += 2) fewer.set(concat("device-", writer, "@00000001"), 7);
    table[concat("device-", i)] = fewer;
  }
  table[std::string(kForgotten)] = table["device-30"];
  table["visitor"] = all;  // it writes nothing
  SpaceSync from(a.agents(), DatabaseName::agents, {}, {}), to(b.agents(), DatabaseName::agents, {}, {});
  std::string after;
  int messages = 0;
  for (bool told = false, named = true; !told && messages < 200; ++messages) {
    const bool begins = after.empty();
    bool room = true;
    const std::string rows = from.ackGroups(table, 400, after, room);
    named = (named || begins) && room;
    told = named && after.empty();
    auto applied = to.readClockRows(rows);
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    EXPECT_LT(rows.size(), messages == 0 ? 8'000u : 1'200u) << "writers by name come with the first vectors";
    ASSERT_GE(applied->deviceAcks.size(), 2u);
    EXPECT_EQ(applied->deviceAcks[0].device, kForgotten);
    for (const DeviceAcks& group : applied->deviceAcks) {
      read[group.device] = to.named(group.clock);
      for (const WriterIndex writer : group.alike)
        read[std::string(deviceOf(b.agents().writers().name(writer)))] = to.named(group.clock);
    }
  }
  EXPECT_GT(messages, 5);
  EXPECT_EQ(read, table);
}

// Which is a few bytes, once all have the same.
TEST(Acks, OfAThousandEqualDevicesTakeOneRow) {
  Device a("a"), b("b");
  AckTable::Devices table;
  VectorClock all;
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(a.agents().intern(concat("device-", i, "@00000001")).ok());
    all.set(concat("device-", i, "@00000001"), 1);
  }
  for (int i = 0; i < 1'000; ++i) table[concat("device-", i)] = all;
  SpaceSync from(a.agents(), DatabaseName::agents, {}, {}), to(b.agents(), DatabaseName::agents, {}, {});
  std::string after;
  bool whole = false;
  ASSERT_TRUE(to.readClockRows(from.ackGroups(table, 1 << 20, after, whole)).ok());
  EXPECT_TRUE(whole);
  const std::string again = from.ackGroups(table, 256, after, whole);
  EXPECT_TRUE(whole);
  EXPECT_LT(again.size(), 20u);
  const auto applied = to.readClockRows(again);
  ASSERT_TRUE(applied.ok());
  ASSERT_EQ(applied->deviceAcks.size(), 1u);
  EXPECT_EQ(applied->deviceAcks[0].alike.size(), 999u);
  EXPECT_EQ(to.named(applied->deviceAcks[0].clock), all);
}

// Of a group that fits, all devices are named, also those whose writers the peer has not heard of.
TEST(AckGroups, NameAllForWhomThereIsRoom) {
  Device a("a"), b("b"), c("c");
  for (Device* one : {&b, &c}) one->write("agent", failures(1)), sync(a, *one);
  const VectorClock clock = a.agents().clock();
  const AckTable::Devices devices{{"b", clock}, {"c", clock}, {"reader", clock}};
  SpaceSync from(a.agents(), DatabaseName::agents, {}, {});
  std::string after;
  bool all = false;
  const std::string rows = from.ackGroups(devices, 10'000, after, all);
  EXPECT_TRUE(all);
  EXPECT_NE(rows.find("reader"), std::string::npos);
  EXPECT_EQ(from.ackGroups(devices, 0, after, all).find("reader"), std::string::npos);
  EXPECT_FALSE(all) << "there was no room for the one without a writer";
}

}  // namespace
}  // namespace witan::replication::test::sync_corners_test
