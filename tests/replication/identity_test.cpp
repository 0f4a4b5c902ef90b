// What goes wrong with the identity of a device (design: replication, "Dots and clocks"): one dot with two contents, a
// cloned disk, a store that went back in time, a restored backup.
#include <algorithm>
#include <set>

#include "replication/records/journal_entity.h"
#include "replication/records/record_schemas.h"
#include "tests/replication/disks.h"

namespace witan::replication::test::identity_test {
namespace {

// A device as the node runs it: with a high-water record beside the store.
class GuardedDevice {
 public:
  explicit GuardedDevice(std::string name, std::uint32_t tag) : name_(std::move(name)), tag_(tag) {
    open(std::nullopt);
  }

  void open(std::optional<std::string> record) {
    replica_.reset();
    ReplicaOptions options;
    options.cluster = "test";
    options.clusterKey = "key";
    options.device = name_;
    options.freshTag = [this] { return tag_++; };
    if (record) options.highWater = parseHighWater(*record);
    auto opened = LocalReplica::open(journal_, agents_, recordSchemas(), std::move(options));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    replica_ = *std::move(opened);
    ASSERT_TRUE(replica_->flush().ok());
  }
  std::string record() { return formatHighWater(replica_->highWater()); }
  LocalReplica& replica() { return *replica_; }
  void write(const std::string& agent, std::uint64_t n) {
    AgentState state;
    state.consecutiveFailureCount = n;
    const Write write{Kind::agentState, agent, encodeAgentState(state, replica_->writer()), false};
    ASSERT_TRUE(replica_->commit(DatabaseName::agents, "main", {&write, 1}).ok());
    ASSERT_TRUE(replica_->flush().ok());
  }
  store::MemoryStore journal_, agents_;

 private:
  std::string name_;
  std::uint32_t tag_;
  std::unique_ptr<LocalReplica> replica_;
};

// What one member does is told a bounded number of times, so nobody erases the traces of another.
TEST(Incidents, AFloodOfOneDeviceErasesNoOthers) {
  Device a("a");
  a.replica().note({"fork", "liar", "this one counts"});
  const auto flood = [&](int from) {
    for (int n = from; n < from + 1'200; ++n) a.replica().note({"keyAsked", "gamma", concat("key ", n)});
  };
  flood(0);
  EXPECT_EQ(count(a.incidents(), "fork"), 1u);
  EXPECT_EQ(count(a.incidents(), "keyAsked"), kMaxIncidentsOfOne);
  EXPECT_EQ(a.incidents().back().what, "key 1199") << "the newest are kept";
  ASSERT_TRUE(a.replica().flush().ok());
  a.crash();
  flood(1'200);
  EXPECT_EQ(count(a.incidents(), "fork"), 1u);
  EXPECT_EQ(count(a.incidents(), "keyAsked"), kMaxIncidentsOfOne);
}

// --- equivocation

// Two lives of one device, of which neither knows, have told two others different contents under one dot.
TEST(Equivocation, IsShownSettledAndLosesNothing) {
  Device first("a", 7), second("a", 7), b("b"), c("c");
  ASSERT_EQ(first.replica().writer(), second.replica().writer());
  first.write("agent", failures(1));
  second.write("agent", failures(2));
  sync(first, b);
  sync(second, c);
  for (int round = 0; round < 3; ++round) sync(b, c);
  EXPECT_GE(count(b.incidents(), "equivocation") + count(c.incidents(), "equivocation"), 1u);
  for (Device* device : {&b, &c}) {
    const auto incidents = device->incidents();
    EXPECT_GE(count(incidents, "digestAlarm"), 1u) << "they know that they differ";
    for (const Incident& incident : incidents) {
      if (incident.kind != "equivocation") continue;
      EXPECT_EQ(incident.peer, "a") << "not the device that passed it on";
      EXPECT_NE(incident.what.find(first.replica().writer() + ":1"), std::string::npos) << incident.what;
      EXPECT_NE(incident.what.find("agent"), std::string::npos) << incident.what;
    }
  }
  // One content keeps the dot, the other stands beside it under the writer of whoever held it.
  expectEqual(b, c);
  ASSERT_EQ(b.antichain("agent").size(), 2u);
  EXPECT_EQ(b.view("agent").consecutiveFailureCount, 2u);
  EXPECT_EQ(
      b.antichain("agent")[0].state.consecutiveFailureCount + b.antichain("agent")[1].state.consecutiveFailureCount,
      3u);
}

// Nothing is missing on either side, so no commit shows the digests, and one of them knows one more writer (seed 623 of
// backup, with more faults).
TEST(Equivocation, IsNoticedBesideAWriterThatTheOtherDoesNotKnow) {
  Device a("a"), b("b");
  Backup backup;
  backUp(a, backup);
  a.write("agent", failures(1));
  sync(a, b);
  copyDisk(backup.agents, a.agentStore()), copyDisk(backup.journal, a.journalStore());
  a.open();
  a.write("agent", failures(2));
  ASSERT_TRUE(b.agents().intern("c@9").ok());
  ASSERT_EQ(a.agents().clock(), b.agents().clock());
  ASSERT_NE(a.agents().digest(), b.agents().digest());
  sync(a, b);
  expectEqual(a, b);
}

// One life wrote over a record, the other wrote elsewhere under the same counter. Who has heard of that counter from
// both takes it for known everywhere, and forgets what the first had seen; the others have not (seed 623 of backup,
// with more faults).
TEST(Equivocation, WhatOneLifeReplacedIsTheSameOnAll) {
  Device a("a"), b("b"), c("c");
  admitOthers(b, {"a", "b", "c"});
  c.write("agent", failures(1));
  for (int round = 0; round < 2; ++round) sync(a, b), sync(b, c), sync(a, c);
  Backup backup;
  backUp(a, backup);
  a.write("agent", failures(2));
  sync(a, b), sync(b, c);
  for (Device* device : {&a, &b}) c.replica().noteAck("agents/main", device->name(), device->agents().clock(), 0);
  copyDisk(backup.agents, a.agentStore()), copyDisk(backup.journal, a.journalStore());
  a.open();
  a.write("elsewhere", failures(3));
  ASSERT_TRUE(c.replica().stabilise().ok());
  const auto& versions = c.agents().table().find(Kind::agentState, "agent")->versions;
  ASSERT_TRUE(versions.size() == 1 && versions.front()->context().empty());
  for (int round = 0; round < 2; ++round) sync(a, c), sync(a, b), sync(b, c);
  expectEqual(a, b), expectEqual(a, c);
}

// The content that loses its dot goes on standing for what it had replaced.
TEST(Equivocation, WhatOneOfTheContentsHadReplacedStaysReplaced) {
  for (std::uint64_t n = 2; n < 8; ++n) {
    Device first("a", 7), second("a", 7), b("b"), c("c"), d("d");
    c.write("agent", failures(1));
    sync(first, c), sync(c, d);
    first.write("agent", failures(n));
    second.write("agent", failures(9 - n));
    sync(first, b), sync(second, d);
    for (int round = 0; round < 4; ++round) sync(b, d);
    expectEqual(b, d);
    ASSERT_EQ(d.antichain("agent").size(), 2u) << n;
    for (const auto& one : d.antichain("agent")) EXPECT_NE(one.state.consecutiveFailureCount, 1u) << n;
  }
}

// Who commits a content anew has written there itself, what the author of that content had not seen. It stands.
TEST(Equivocation, WhatAHolderWroteThereItselfStands) {
  Device first("a", 7), second("a", 7), b("b"), c("c");
  b.write("agent", failures(4));
  c.write("agent", failures(8));
  first.write("agent", failures(1));
  second.write("agent", failures(2));
  sync(first, b);
  sync(second, c);
  for (int round = 0; round < 3; ++round) sync(b, c);
  expectEqual(b, c);
  std::multiset<std::uint64_t> held;
  for (const AgentSnapshot& one : b.antichain("agent")) held.insert(one.state.consecutiveFailureCount);
  EXPECT_EQ(held, (std::multiset<std::uint64_t>{1, 2, 4, 8}));
  // Only the one of them whose content gave way goes on under another name, and no peer is blamed for it.
  EXPECT_EQ(count(b.incidents(), "newIncarnation") + count(c.incidents(), "newIncarnation"), 1u);
  for (Device* device : {&b, &c}) EXPECT_EQ(count(device->incidents(), "quarantine"), 0u);
}

// A directory is put back and used before any peer was met: as many commits again as were lost, so no counter tells.
// The digests do; both contents stand.
TEST(Equivocation, AnOldDirectoryThatWasUsedLosesNothing) {
  Device a("a", 7), b("b");
  a.write("agent", failures(1));
  sync(a, b);
  Device old("a", 9);
  copyDisk(a.agentStore(), old.agentStore());
  copyDisk(a.journalStore(), old.journalStore());
  old.open();
  a.write("agent", failures(2));
  sync(a, b);
  old.write("agent", failures(3));
  sync(old, b);
  sync(old, b);
  expectEqual(old, b);
  EXPECT_EQ(b.antichain("agent").size(), 2u);
  EXPECT_GE(count(old.incidents(), "equivocation") + count(b.incidents(), "equivocation"), 1u);
}

// The life that nobody knows of removed something under a dot that the others have for something else. Whoever of the
// two asks, it is gone.
TEST(Equivocation, ARemovalUnderAUsedDotRemovesEverywhere) {
  for (const char* peer : {"A", "b"}) {
    Device a("a", 7), b(peer), old("a", 90);
    a.write("agent", failures(1));
    sync(a, b);
    copyDisk(a.agentStore(), old.agentStore());
    copyDisk(a.journalStore(), old.journalStore());
    a.write("other", failures(2));
    sync(a, b);
    old.open();
    removeAgent(old, "agent");
    old.flush();
    sync(old, b);
    EXPECT_TRUE(b.antichain("agent").empty()) << peer;
    EXPECT_EQ(old.antichain("other").size(), 1u) << peer;
    expectEqual(old, b);
  }
}

TEST(Equivocation, OnDifferentKeysIsUnited) {
  Device first("a", 7), second("a", 7), b("b"), c("c");
  first.write("one", failures(1));
  second.write("two", failures(2));
  sync(first, b);
  sync(second, c);
  sync(b, c);
  sync(b, c);
  expectEqual(b, c);
  EXPECT_EQ(b.agents().keys(Kind::agentState), (std::vector<std::string>{"one", "two"}));
  EXPECT_GE(count(b.incidents(), "digestAlarm"), 1u);
}

TEST(Equivocation, NoneWithoutACause) {
  Device a("a", 7), b("b"), c("c");
  a.write("agent", failures(1));
  sync(a, b), sync(a, c), sync(b, c);
  for (Device* device : {&a, &b, &c}) EXPECT_TRUE(device->incidents().empty());
}

// --- a cloned disk

TEST(Clone, TwoDevicesWithOneIdRefuseEachOther) {
  Device a("a", 7), clone("a", 7);
  a.write("agent", failures(1));
  a.flush();
  copyDisk(a.agentStore(), clone.agentStore());
  copyDisk(a.journalStore(), clone.journalStore());
  clone.open();
  Link link(a, clone);
  link.run();
  EXPECT_EQ(link.ofA().state(), SessionState::closed);
  EXPECT_NE(link.ofA().closeReason().find("one of the two is a copy"), std::string::npos) << link.ofA().closeReason();
}

// A device that goes back with all that could tell it so gives counters away again. What it wrote under these is
// dropped when it hears of it, and the notification batches that stand under them are those of the others.
TEST(Clone, EventsUnderCountersThatWereUsedBeforeAreTheOthers) {
  const auto edit = [](Device& device, const std::string& id) {
    const JournalChange change{id, *journalEdit({}, {"note", "{}", "person", 0, {}}), "note"};
    const auto writes = journalWrites(device.journal(), {&change, 1}, {}, {});
    ASSERT_TRUE(device.replica().commit(DatabaseName::journal, "main", *writes).ok());
    device.flush();
  };
  Device a("a"), b("b");
  a.write("agent", failures(1));
  sync(a, b);
  const auto agents = a.agentStore().image(), journal = a.journalStore().image();
  edit(a, "first"), edit(a, "second");
  a.write("agent", failures(2));
  sync(a, b);
  a.lose();
  a.agentStore().restoreImage(*agents), a.journalStore().restoreImage(*journal);
  a.open();
  edit(a, "other");
  ASSERT_EQ(a.journal().takeEvents()->size(), 1u);
  sync(a, b);
  EXPECT_EQ(count(a.incidents(), "rolledBack"), 1u);
  expectEqual(a, b);
  EXPECT_EQ(a.journal().keys(Kind::batch).size(), 2u);
  EXPECT_EQ(a.journal().takeEvents()->size(), 2u) << "whom they wake has not heard of them";
}

// Started from a copied disk, the clone learns through a third device that its writer went on elsewhere, takes a new
// one, and nothing of either is lost.
TEST(Clone, FindsOutThroughAThirdDeviceAndLosesNothing) {
  Device a("a", 7), clone("a", 50), b("b");
  a.write("agent", failures(1));
  sync(a, b);
  copyDisk(a.agentStore(), clone.agentStore());
  copyDisk(a.journalStore(), clone.journalStore());
  clone.open();
  ASSERT_EQ(clone.replica().writer(), a.replica().writer());
  a.write("original", failures(2));
  sync(a, b);
  sync(clone, b);
  EXPECT_NE(clone.replica().writer(), a.replica().writer());
  EXPECT_EQ(count(clone.incidents(), "rolledBack"), 1u);
  EXPECT_EQ(count(clone.incidents(), "newIncarnation"), 1u);
  clone.write("copy", failures(3));
  sync(clone, b);
  sync(a, b);
  sync(clone, b);
  expectEqual(a, b);
  EXPECT_EQ(a.view("copy").consecutiveFailureCount, 3u);
  EXPECT_EQ(clone.view("original").consecutiveFailureCount, 2u);
  EXPECT_EQ(count(b.incidents(), "equivocation"), 0u);
}

// --- rollback: what the record beside the store says

TEST(Rollback, EveryStateOfTheHighWaterRecord) {
  struct Case {
    const char* name;
    IncarnationCause cause;
  };
  for (const Case& each :
       {Case{"right", IncarnationCause::none}, Case{"missing", IncarnationCause::noRecord},
        Case{"damaged", IncarnationCause::damagedRecord}, Case{"ahead", IncarnationCause::storeBehind},
        Case{"behind", IncarnationCause::storeAhead}, Case{"other", IncarnationCause::otherWriter}}) {
    SCOPED_TRACE(each.name);
    const std::string name = each.name;
    GuardedDevice a("a", 7), stranger("a", 90);
    EXPECT_EQ(a.replica().incarnation().cause, IncarnationCause::freshStore);
    for (int i = 0; i < 10; ++i) a.write("agent", static_cast<std::uint64_t>(i));
    const std::string writer = a.replica().writer();
    std::string record = a.record();
    HighWater changed = a.replica().highWater();
    if (name == "ahead") {
      changed.spaces.at("agents/main") = leaseFrom(100);
      record = formatHighWater(changed);
    }
    if (name == "behind") {
      changed.spaces.at("agents/main") = closedLease(4);
      record = formatHighWater(changed);
    }
    if (name == "other") record = stranger.record();
    if (name == "damaged") record[record.size() / 2] ^= 1;
    a.open(name == "missing" ? std::nullopt : std::optional(record));
    EXPECT_EQ(a.replica().incarnation().cause, each.cause) << a.replica().incarnation().why;
    const bool same = each.cause == IncarnationCause::none;
    EXPECT_EQ(a.replica().writer() == writer, same);
    EXPECT_EQ(a.replica().restored("agents/main"), !same);
    EXPECT_EQ(count(*a.replica().incidents(), "newIncarnation"), same ? 0u : 1u);
    // The next commit takes a dot that nobody has ever had.
    a.write("agent", 99);
    EXPECT_EQ(a.replica().findSpace("agents/main")->clock().at(a.replica().writer()), same ? 11u : 1u);
  }
}

TEST(Rollback, AProperEndLeavesExactlyTheLastCounters) {
  GuardedDevice a("a", 7);
  a.write("agent", 1);
  const std::string closed = formatHighWater(a.replica().closedHighWater());
  a.open(closed);
  EXPECT_FALSE(a.replica().incarnation().newIncarnation()) << a.replica().incarnation().why;
}

}  // namespace
}  // namespace witan::replication::test::identity_test
