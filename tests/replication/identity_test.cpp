// What goes wrong with the identity of a device (design: replication, "Dots and clocks"): one dot with two contents, a
// cloned disk, a store that went back in time, a restored backup.
#include <algorithm>
#include <set>

#include "replication/records/journal_entity.h"
#include "replication/records/record_schemas.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test::identity_test {
namespace {

// Copies a disk: everything that is in `from`, and nothing else.
void copyDisk(const store::MemoryStore& from, store::MemoryStore& to) {
  store::WriteBatch batch;
  ASSERT_TRUE(to.scan({}, {}, [&](std::string_view key, std::string_view) {
                  batch.erase(key);
                  return true;
                }).ok());
  ASSERT_TRUE(from.scan({}, {},
                        [&](std::string_view key, std::string_view value) {
                          batch.put(key, value);
                          return true;
                        })
                  .ok());
  ASSERT_TRUE(to.writeSynced(batch).ok());
}

// The disks of a device at one moment.
struct Backup {
  store::MemoryStore journal, agents;
  std::string highWater;
};
void backUp(Device& device, Backup& into) {
  device.flush();
  copyDisk(device.journalStore(), into.journal);
  copyDisk(device.agentStore(), into.agents);
  into.highWater = formatHighWater(device.replica().highWater());
}

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

std::size_t count(const std::vector<Incident>& incidents, std::string_view kind) {
  return static_cast<std::size_t>(
      std::count_if(incidents.begin(), incidents.end(), [&](const Incident& i) { return i.kind == kind; }));
}

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

void admitOthers(Device& sponsor, const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    const auto known = sponsor.replica().statements();
    ASSERT_TRUE(sponsor.replica().addStatement(admit(*known, sponsor.replica().writer(), device, 1, device)).ok());
  }
  sponsor.flush();
}
void removeAgent(Device& device, const std::string& agent) {
  const Write gone{Kind::agentState, agent, "", true};
  ASSERT_TRUE(device.replica().commit(DatabaseName::agents, "main", {&gone, 1}).ok());
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

// --- a restored backup

// What the cluster has outlived does not come back; what only the backup has under its old writer is not lost.
TEST(Restore, AdoptsWhatHappenedAndKeepsWhatOnlyItKnows) {
  Device a("a", 7), b("b"), c("c");
  admitOthers(a, {"a", "b", "c"});
  sync(a, b), sync(a, b), sync(a, c), sync(a, c);
  for (int i = 0; i < 20; ++i) a.write("agent-" + std::to_string(i), failures(1));
  sync(a, b);
  a.write("unsynced", failures(4));  // nobody else has it when the backup is taken
  Backup backup;
  backUp(a, backup);
  // Life goes on. agent-0..4 are deleted, agent-5..9 overwritten; everybody has it, contexts are shortened.
  sync(a, b);
  for (int i = 0; i < 5; ++i) removeAgent(b, "agent-" + std::to_string(i));
  for (int i = 5; i < 10; ++i) b.write("agent-" + std::to_string(i), failures(2));
  a.write("after-backup", failures(6));
  for (int round = 0; round < 3; ++round) {
    sync(a, b), sync(b, c), sync(a, c);
    for (Device* device : {&a, &b, &c}) ASSERT_TRUE(device->replica().stabilise().ok());
  }
  ASSERT_TRUE(b.antichain("agent-0").empty()) << "the tombstone is gone, nothing marks the deletion";
  // The disk of a dies. The backup comes back, without its record: a new writer.
  copyDisk(backup.agents, a.agentStore());
  copyDisk(backup.journal, a.journalStore());
  a.open(false);
  EXPECT_EQ(a.replica().incarnation().cause, IncarnationCause::noRecord);
  EXPECT_TRUE(a.replica().restored("agents/main"));
  EXPECT_EQ(a.antichain("agent-0").size(), 1u) << "before it has met anybody";
  a.write("new-life", failures(8));
  sync(a, b);
  EXPECT_FALSE(a.replica().restored("agents/main"));
  sync(a, b), sync(b, c), sync(a, c);
  expectEqual(a, b);
  expectEqual(b, c);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(a.antichain("agent-" + std::to_string(i)).empty()) << i;
  for (int i = 5; i < 10; ++i) {
    EXPECT_EQ(a.antichain("agent-" + std::to_string(i)).size(), 1u);
    EXPECT_EQ(a.view("agent-" + std::to_string(i)).consecutiveFailureCount, 2u);
  }
  for (const char* agent : {"unsynced", "after-backup", "new-life"}) EXPECT_EQ(c.antichain(agent).size(), 1u) << agent;
  EXPECT_EQ(count(b.incidents(), "equivocation"), 0u);
}

// A newcomer gets what it has, or half of it, from an older copy, which knows that it is one, or does not. What all
// had removed and replaced does not come back with it, whomever it meets next.
TEST(Restore, ANewcomerBringsNothingBackThatAnOlderCopyHad) {
  enum class Next { member, halfAndMember, olderCopyThatAdopts };
  for (const Next next : {Next::member, Next::halfAndMember, Next::olderCopyThatAdopts})
    for (const bool knows : {true, false}) {
      SCOPED_TRACE(concat(static_cast<int>(next), knows));
      Device a("a", 7), b("b"), c("c");
      admitOthers(a, {"a", "b"});
      sync(a, b), sync(a, b);
      const auto tidy = [&] {
        for (int round = 0; round < 3; ++round) {
          sync(a, b);
          for (Device* device : {&a, &b}) ASSERT_TRUE(device->replica().stabilise().ok());
        }
      };
      for (const char* agent : {"removed", "gone", "changed", "both"}) b.write(agent, failures(1));
      sync(a, b);
      a.write("both", failures(2));
      tidy();
      Backup backup;
      backUp(b, backup);
      removeAgent(a, "removed"), removeAgent(a, "gone");
      a.write("changed", failures(2));
      tidy();
      copyDisk(backup.agents, b.agentStore());
      copyDisk(backup.journal, b.journalStore());
      b.open(!knows);
      admitOthers(b, {"c"});
      c.write("own", failures(5));
      SessionOptions small;
      small.segmentBytes = 1;
      Link filling(b, c, small);
      if (next != Next::halfAndMember) filling.run();
      for (std::size_t frames = 1; c.antichain("removed").size() + c.antichain("gone").size() == 0; ++frames)
        Link(b, c, small).runUntilCut(frames);
      if (next == Next::olderCopyThatAdopts) {
        Link adopting(a, b);
        while (adopting.step()) filling.run();
        filling.run();
      }
      sync(c, a), sync(c, a);  // in the first one it is a stranger still
      EXPECT_TRUE(c.antichain("removed").empty() && c.antichain("gone").empty());
      sync(c, b), sync(a, b), sync(a, c);
      for (Device* device : {&a, &b, &c}) {
        EXPECT_TRUE(device->antichain("removed").empty() && device->antichain("gone").empty()) << device->name();
        ASSERT_EQ(device->antichain("changed").size(), 1u) << device->name();
        EXPECT_EQ(device->view("changed").consecutiveFailureCount, 2u);
        EXPECT_EQ(device->antichain("own").size(), 1u) << device->name();
        EXPECT_EQ(count(device->incidents(), "digestAlarm"), 0u) << device->name();
      }
      EXPECT_EQ(count(c.incidents(), "olderCopy"), 0u) << "its own disk did not go back";
      expectEqual(a, b), expectEqual(a, c);
    }
}

// It compares with another older copy and with a member at once; whichever answers first, what all had removed and
// replaced does not come back with the other's records (seed 2763 of everything).
TEST(Restore, WhatAnotherOlderCopySendsLateBringsNothingBack) {
  for (std::size_t frames = 0, cut = 1; cut != 0; ++frames) {
    SCOPED_TRACE(frames);
    Device a("a", 7), b("b"), c("c");
    admitOthers(a, {"a", "b", "c"});
    const auto tidy = [&] {
      for (int round = 0; round < 3; ++round) {
        sync(a, b), sync(b, c), sync(a, c);
        for (Device* device : {&a, &b, &c}) ASSERT_TRUE(device->replica().stabilise().ok());
      }
    };
    tidy();
    for (const char* agent : {"removed", "changed"}) c.write(agent, failures(1));
    tidy();
    Backup ofA, ofB;
    backUp(a, ofA);
    b.write("onlyAtB", failures(3));
    backUp(b, ofB);
    removeAgent(c, "removed");
    c.write("changed", failures(2));
    tidy();
    copyDisk(ofA.agents, a.agentStore()), copyDisk(ofA.journal, a.journalStore());
    copyDisk(ofB.agents, b.agentStore()), copyDisk(ofB.journal, b.journalStore());
    a.open(false), b.open();
    Link older(a, b), member(a, c);
    cut = older.runUntilCut(frames) ? 1 : 0;
    member.run();
    older.run(), member.run();
    sync(b, c), sync(a, c), sync(a, b);
    for (Device* device : {&a, &b, &c}) {
      EXPECT_TRUE(device->antichain("removed").empty()) << device->name();
      ASSERT_EQ(device->antichain("changed").size(), 1u) << device->name();
      EXPECT_EQ(device->view("changed").consecutiveFailureCount, 2u) << device->name();
      EXPECT_EQ(device->antichain("onlyAtB").size(), 1u) << device->name();
    }
    expectEqual(a, b), expectEqual(a, c);
  }
}

// What it wrote since reaches the peer over a third device, amid the comparison, with a change beside it. The peer's
// list covers it, the items are on their way: a change made here now replaces what it has not seen, so all must stand
// still.
TEST(Restore, WhatBothHoldIsNeverMissingWhileACopyIsTakenOver) {
  const auto holds = [](Device& device, const std::string& agent, const Dot& dot) {
    const auto versions = device.agents().versions(Kind::agentState, agent);
    return versions.ok() && std::ranges::any_of(*versions, [&](const Version& v) { return v.dot == dot; });
  };
  std::size_t between = 0;
  for (std::size_t first = 0, cut = 1; cut != 0; ++first)
    for (std::size_t then = 0, cutAgain = 1; cutAgain != 0; ++then) {
      SCOPED_TRACE(concat(first, " frames, then ", then));
      Device a("a", 7), b("b"), c("c"), older("d");
      admitOthers(a, {"a", "b", "c", "d"});
      for (const char* agent : {"agent", "removed"}) a.write(agent, failures(1));
      sync(a, older), sync(a, b), sync(a, c), sync(a, older);
      const Dot news = older.write("news", failures(1));
      a.write("unsynced", failures(1));
      Backup backup;
      backUp(a, backup);
      sync(a, b);
      removeAgent(b, "removed");
      sync(a, b), sync(b, c), sync(a, b);
      copyDisk(backup.agents, a.agentStore()), copyDisk(backup.journal, a.journalStore());
      a.open(false);
      const Dot own = a.write("agent", failures(2));
      const Dot beside = c.write("agent", failures(3));
      sync(a, older);
      for (std::size_t some = 1; !holds(c, "agent", own); ++some) Link(a, c).runUntilCut(some);
      const auto adopts = [&] { return a.replica().restored("agents/main"); };
      ASSERT_TRUE(adopts() && holds(a, "news", news));
      Link link(a, b);
      cut = link.runUntilCut(first) ? 1 : 0;
      sync(b, c);
      ASSERT_TRUE(holds(b, "agent", own) && holds(b, "agent", beside));
      while (!link.queueToB().empty()) link.deliverToB();  // a question is answered before the change goes out
      cutAgain = link.runUntilCut(then) ? 1 : 0;
      EXPECT_TRUE(holds(a, "agent", own));
      between += adopts() && a.antichain("removed").empty() && !holds(a, "agent", beside);
      a.write("agent", failures(4));
      link.run();
      for (int round = 0; round < 2; ++round) sync(a, b), sync(a, older), sync(b, c), sync(a, c);
      for (Device* device : {&a, &b, &c, &older}) {
        EXPECT_TRUE(device->antichain("removed").empty()) << device->name();
        EXPECT_EQ(device->antichain("unsynced").size(), 1u) << device->name();
        expectEqual(a, *device);
      }
      EXPECT_EQ(count(a.incidents(), "digestAlarm") + count(b.incidents(), "digestAlarm"), 0u);
    }
  EXPECT_GT(between, 0u) << "a list was compared, and its items had not come";
}

// Dots that a told only to c before its disk died, and that its backup has too: same content, no second life.
TEST(Restore, WhatOnlyTheBackupKnewReachesTheOthers) {
  Device a("a", 7), b("b");
  a.write("one", failures(1));
  sync(a, b);
  a.write("two", failures(2));
  Backup backup;
  backUp(a, backup);
  a.write("three", failures(3));  // lost with the disk, nobody has it
  a.flush();
  copyDisk(backup.agents, a.agentStore());
  copyDisk(backup.journal, a.journalStore());
  a.open(false);
  a.write("four", failures(4));
  sync(a, b);
  sync(a, b);
  expectEqual(a, b);
  for (const char* agent : {"one", "two", "four"}) EXPECT_EQ(b.antichain(agent).size(), 1u) << agent;
  EXPECT_TRUE(b.antichain("three").empty());
  EXPECT_EQ(count(b.incidents(), "equivocation") + count(a.incidents(), "equivocation"), 0u);
}

// The restored copy removed something under a dot that its peer has for something else. What was committed since the
// restore under such a dot is lost, so the removal is too: the copy that is adopted holds what it took away (seed
// 1228 of everything).
TEST(Restore, ARemovalUnderAUsedDotIsLostWithTheCopyThatMadeIt) {
  Device a("a", 7), b("b");
  admitOthers(a, {"a", "b"});
  a.write("agent", failures(1));
  sync(a, b), sync(a, b);
  Backup backup;
  backUp(a, backup);
  b.write("other", failures(2));
  sync(a, b);
  a.write("third", failures(3));
  sync(a, b), sync(a, b);
  copyDisk(backup.agents, a.agentStore());
  copyDisk(backup.journal, a.journalStore());
  a.open();
  removeAgent(a, "agent");
  a.write("fourth", failures(4));
  a.flush();
  sync(a, b);
  EXPECT_EQ(count(a.incidents(), "olderCopy"), 1u);
  for (Device* device : {&a, &b})
    for (const char* agent : {"agent", "other", "third", "fourth"})
      EXPECT_EQ(device->antichain(agent).size(), 1u) << device->name() << " " << agent;
  EXPECT_EQ(count(a.incidents(), "digestAlarm") + count(b.incidents(), "digestAlarm"), 0u);
  expectEqual(a, b);
}

// A copy that nothing contradicts: the device has written nothing since. But it had acknowledged what the others
// wrote over and removed, so they forgot what that replaced; a peer that remembers the acknowledgement says so first
// of all.
TEST(Restore, OfADeviceThatWroteNothingSinceIsNoticedToo) {
  Device a("a", 7), b("b");
  admitOthers(a, {"a", "b"});
  sync(a, b), sync(a, b);
  for (int i = 0; i < 6; ++i) b.write("agent-" + std::to_string(i), failures(1));
  sync(a, b), sync(a, b);
  Backup backup;
  backUp(a, backup);
  for (int i = 0; i < 3; ++i) removeAgent(b, "agent-" + std::to_string(i));
  for (int i = 3; i < 6; ++i) b.write("agent-" + std::to_string(i), failures(2));
  for (int round = 0; round < 3; ++round) {
    sync(a, b);
    for (Device* device : {&a, &b}) ASSERT_TRUE(device->replica().stabilise().ok());
  }
  ASSERT_EQ(b.agents().digest().count, 3u) << "the tombstones are gone, nothing marks what was removed";
  copyDisk(backup.agents, a.agentStore());
  copyDisk(backup.journal, a.journalStore());
  a.open();
  EXPECT_FALSE(a.replica().restored("agents/main")) << "it cannot know";
  sync(a, b), sync(a, b);
  EXPECT_FALSE(a.replica().restored("agents/main"));
  EXPECT_EQ(count(a.incidents(), "olderCopy"), 1u);
  sync(a, b);
  EXPECT_FALSE(a.replica().restored("agents/main")) << "concluded once";
  EXPECT_EQ(count(a.incidents(), "digestAlarm") + count(b.incidents(), "digestAlarm"), 0u);
  expectEqual(a, b);
  for (int i = 0; i < 3; ++i)
    for (Device* device : {&a, &b}) EXPECT_TRUE(device->antichain("agent-" + std::to_string(i)).empty()) << i;
  for (int i = 3; i < 6; ++i) EXPECT_EQ(a.antichain("agent-" + std::to_string(i)).size(), 1u);
}

// It is no proof of a lie: of a peer that says so again and again, of ever more, the fourth time is not believed.
TEST(Restore, AcknowledgementsThatNobodyGaveAreNotBelievedForEver) {
  Device a("a"), b("b");
  a.write("agent-1", failures(1));
  sync(a, b);
  Space& space = a.agents();
  const std::string other = b.replica().writer();
  for (std::uint64_t n = 1; n <= 4; ++n) {
    VectorClock more = space.clock();
    more.set(other, 100 * n);
    const Status judged = a.replica().judgeAck(space, "agents/main", "b", more);
    EXPECT_EQ(judged.ok(), n < 4);
    EXPECT_EQ(a.replica().restored("agents/main"), n < 4);
    a.replica().setRestored("agents/main", false);
    if (n == 4) break;
    EXPECT_TRUE(a.replica().judgeAck(space, "agents/main", "c", more).ok());
    EXPECT_FALSE(a.replica().restored("agents/main")) << "concluded from it already";
  }
  EXPECT_EQ(count(a.incidents(), "olderCopy"), 1u);
  EXPECT_TRUE(a.replica().quarantined("b").has_value());
  VectorClock absurd = space.clock();
  absurd.set(other, kMaxCounterJump + 1000);
  EXPECT_FALSE(a.replica().judgeAck(space, "agents/main", "c", absurd).ok());
  EXPECT_TRUE(a.replica().quarantined("c").has_value());
}

}  // namespace
}  // namespace witan::replication::test::identity_test
