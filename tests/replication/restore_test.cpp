// A copy that went back in time, or was lost: what the others have outlived does not come back with it, and what only
// it has is not lost (design: replication, "Dots and clocks").
#include <algorithm>
#include <random>

#include "replication/records/record_schemas.h"
#include "tests/replication/disks.h"

namespace witan::replication::test::restore_test {
namespace {

// Each hears of the others' acknowledgements, and forgets what all have.
void tidy(Device& a, Device& b, Device& c) {
  for (int round = 0; round < 3; ++round) {
    sync(a, b), sync(b, c), sync(a, c);
    for (Device* device : {&a, &b, &c}) ASSERT_TRUE(device->replica().stabilise().ok());
  }
}

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
  tidy(a, b, c);
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
    tidy(a, b, c);
    for (const char* agent : {"removed", "changed"}) c.write(agent, failures(1));
    tidy(a, b, c);
    Backup ofA, ofB;
    backUp(a, ofA);
    b.write("onlyAtB", failures(3));
    backUp(b, ofB);
    removeAgent(c, "removed");
    c.write("changed", failures(2));
    tidy(a, b, c);
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

// It has lost its disk, or has an older one, and meets a member and an older copy at once, in any order of frames. What
// all had removed and replaced comes back nowhere, whether the two older copies know what they are or not (seed 2663
// of everything).
class TwoAtOnce {
 public:
  enum class Disk { lost, older, olderAndKnown };

  TwoAtOnce(Disk disk, std::uint64_t seed) : random_(seed) {
    admitOthers(a_, {"a", "b", "c"});
    tidy(a_, b_, c_);
    for (const char* agent : {"removed", "changed", "changedHere"}) c_.write(agent, failures(1));
    b_.write("changedThere", failures(1));
    tidy(a_, b_, c_);
    Backup ofA, ofB;
    const Backup none;
    backUp(a_, ofA);
    if (random_() % 2 == 0) b_.write("onlyAtB", failures(3));
    backUp(b_, ofB);
    removeAgent(c_, "removed");
    for (const char* agent : {"changed", "changedThere"}) c_.write(agent, failures(2));
    a_.write("changedHere", failures(2));
    tidy(a_, b_, c_);
    const Backup& back = disk == Disk::lost ? none : ofA;
    copyDisk(back.agents, a_.agentStore()), copyDisk(back.journal, a_.journalStore());
    copyDisk(ofB.agents, b_.agentStore()), copyDisk(ofB.journal, b_.journalStore());
    a_.open(disk != Disk::olderAndKnown), b_.open(random_() % 4 != 0);
  }

  void meet() {
    SessionOptions small;
    if (random_() % 2 == 0) small.segmentBytes = 1;
    Link older(a_, b_, small), member(a_, c_, small), others(b_, c_, small);
    const std::vector<Link*> links{&older, &member, &others};
    const std::size_t met = 2 + random_() % 2;
    const bool frameByFrame = random_() % 2 == 0;
    for (std::size_t steps = frameByFrame ? 60 + random_() % 60 : 8; steps > 0; --steps) {
      if (random_() % 10 == 0) c_.write("changed", failures(++latest_));
      Link& link = *links[random_() % met];
      frameByFrame ? act(link) : void(link.runUntilCut(random_() % 10));
    }
    for (int round = 0; round < 2; ++round)
      for (Link* one : links) one->run();
    for (int round = 0; round < 2; ++round) sync(b_, c_), sync(a_, c_), sync(a_, b_);
  }

  void expectNothingBack() {
    for (Device* device : {&a_, &b_, &c_}) {
      EXPECT_TRUE(device->antichain("removed").empty()) << device->name();
      for (const auto& [agent, stands] : {std::pair("changed", latest_), {"changedHere", 2u}, {"changedThere", 2u}}) {
        ASSERT_EQ(device->antichain(agent).size(), 1u) << device->name() << " " << agent;
        EXPECT_EQ(device->view(agent).consecutiveFailureCount, stands) << device->name() << " " << agent;
      }
      expectEqual(a_, *device);
    }
  }

 private:
  void act(Link& link) {
    const auto what = random_() % 3;
    if (what == 0) link.say(std::size_t{1} << 30);
    if (what == 1 && !link.queueToA().empty()) link.deliverToA();
    if (what == 2 && !link.queueToB().empty()) link.deliverToB();
  }

  Device a_{"a", 7}, b_{"b"}, c_{"c"};
  std::mt19937_64 random_;
  std::uint64_t latest_ = 2;
};

TEST(Restore, NothingComesBackHoweverAMemberAndAnOlderCopyAreMetAtOnce) {
  for (const auto disk : {TwoAtOnce::Disk::lost, TwoAtOnce::Disk::older, TwoAtOnce::Disk::olderAndKnown})
    for (std::uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) {
      SCOPED_TRACE(concat("disk ", static_cast<int>(disk), " seed ", seed));
      TwoAtOnce three(disk, seed);
      three.meet();
      three.expectNothingBack();
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
}  // namespace witan::replication::test::restore_test
