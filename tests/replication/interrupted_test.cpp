// Sessions that are cut after every frame (issue: interrupted sessions; seed findings, the four rules of sync).
#include "tests/replication/cluster.h"

namespace witan::replication::test::interrupted_test {
namespace {

SessionOptions smallSegments() {
  SessionOptions options;
  options.segmentBytes = 120;
  return options;
}

void note(Device& device, const std::string& key, const std::string& text) {
  JournalBody body;
  body.type = "task";
  body.payload = "\"" + text + "\"";
  body.author = device.replica().writer();
  body.lamport = 1;
  const Write write{Kind::journal, key, encodeRecord(body).value(), false};
  auto dot = device.replica().commit(DatabaseName::journal, "main", {&write, 1});
  ASSERT_TRUE(dot.ok()) << dot.error().message;
}

// Work on both sides that needs several segments each way: some of it on the same keys, some over a common past.
void workOnBothSides(Device& a, Device& b) {
  for (int i = 0; i < 12; ++i) a.write("shared-" + std::to_string(i), failures(1));
  sync(a, b);
  for (int i = 0; i < 24; ++i) {
    a.write("shared-" + std::to_string(i % 12), failures(10 + i));
    b.write("shared-" + std::to_string(i % 6), failures(100 + i));
    a.write("only-a-" + std::to_string(i), failures(i));
    b.write("only-b-" + std::to_string(i), failures(i));
    note(a, "note-" + std::to_string(i % 16), "a" + std::to_string(i));
    note(b, "note-" + std::to_string(i % 8), "b" + std::to_string(i));
  }
}

// What may be seen at any time: the promises of every space, and a vector that covers nothing that is neither held nor
// superseded. The latter is checked by letting the device heal a newcomer, who must end with the same contents.
void expectConsistent(Device& device) {
  for (const std::string& id : device.replica().spaceIds())
    EXPECT_TRUE(device.replica().findSpace(id)->checkIntegrity().ok()) << device.name() << " " << id;
}

std::size_t framesOfWholeSession() {
  Device a("a"), b("b");
  workOnBothSides(a, b);
  Link link(a, b, smallSegments());
  link.run();
  return link.ofA().stats().framesIn + link.ofB().stats().framesIn;
}

TEST(Interrupted, CutAfterEveryFrameAndHealed) {
  const std::size_t frames = framesOfWholeSession();
  ASSERT_GT(frames, 30u);
  for (std::size_t cut = 0; cut < frames; ++cut) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b");
    workOnBothSides(a, b);
    {
      Link link(a, b, smallSegments());
      ASSERT_TRUE(link.runUntilCut(cut));
    }
    a.flush(), b.flush();
    sync(a, b, smallSegments());
    expectEqual(a, b);
    if (HasFailure()) return;
  }
}

// The process goes down with the stream: the rest of the session comes from the disk.
TEST(Interrupted, CutAfterEveryFrameWithACrashOnBothSides) {
  const std::size_t frames = framesOfWholeSession();
  for (std::size_t cut = 0; cut < frames; ++cut) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b");
    workOnBothSides(a, b);
    a.flush(), b.flush();
    {
      Link link(a, b, smallSegments());
      ASSERT_TRUE(link.runUntilCut(cut));
    }
    a.crash(), b.crash();
    sync(a, b, smallSegments());
    expectEqual(a, b);
    if (HasFailure()) return;
  }
}

// A third and a fourth device sync with either side of the broken session, and then only they are left: rule 1.
TEST(Interrupted, ThirdDevicesSeeNoGapBetweenCutAndHeal) {
  const std::size_t frames = framesOfWholeSession();
  for (std::size_t cut = 0; cut < frames; ++cut) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b"), c("c"), d("d");
    workOnBothSides(a, b);
    {
      Link link(a, b, smallSegments());
      ASSERT_TRUE(link.runUntilCut(cut));
    }
    sync(b, c, smallSegments());
    sync(a, d);
    expectConsistent(c), expectConsistent(d);
    // c has what b has, d has what a has.
    expectEqual(b, c);
    expectEqual(a, d);
    sync(c, d, smallSegments());
    expectEqual(c, d);
    sync(a, b, smallSegments());
    sync(a, c);
    expectEqual(a, b);
    expectEqual(b, c);
    for (Device* one : {&a, &b, &c, &d}) {
      for (const Incident& incident : one->incidents()) ADD_FAILURE() << incident.what;
    }
    if (HasFailure()) return;
  }
}

// Both sides write between any two frames; half of it to keys that are under way.
TEST(Interrupted, WritesDuringTheSessionOnBothSides) {
  const std::size_t frames = framesOfWholeSession();
  for (std::size_t cut = 0; cut < frames; cut += 3) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b");
    workOnBothSides(a, b);
    int n = 0;
    {
      Link link(a, b, smallSegments());
      for (std::size_t frame = 0; frame < cut;) {
        link.say(1);
        if (link.queueToA().empty() && link.queueToB().empty()) break;
        for (; frame < cut && !link.queueToB().empty(); ++frame) {
          link.deliverToB();
          ++n;
          b.write("shared-" + std::to_string(n % 12), failures(n));
          a.write("only-a-" + std::to_string(n % 24), failures(n));
        }
        for (; frame < cut && !link.queueToA().empty(); ++frame) {
          link.deliverToA();
          ++n;
          a.write("shared-" + std::to_string(n % 12), failures(n));
          note(b, "note-" + std::to_string(n % 16), "during");
        }
      }
    }
    sync(a, b, smallSegments());
    expectEqual(a, b);
    EXPECT_TRUE(a.incidents().empty());
    EXPECT_TRUE(b.incidents().empty());
    if (HasFailure()) return;
  }
}

// What had arrived before the cut is not sent again: neither between strangers (WRITERS) nor between acquaintances
// (the greeting alone).
void prepare(Device& a, Device& b, bool acquainted) {
  if (acquainted) {
    a.write("first", failures(1));
    b.write("first", failures(1));
    sync(a, b);
  }
  for (int i = 0; i < 100; ++i) a.write("a-" + std::to_string(i), failures(i));
  for (int i = 0; i < 60; ++i) b.write("b-" + std::to_string(i), failures(i));
}

void expectResumes(bool acquainted, bool newcomer = false) {
  std::size_t whole = 0, frames = 0, greeting = 0;
  {
    Device a("a"), b("b");
    prepare(a, b, acquainted);
    Link link(a, b, smallSegments());
    link.run();
    whole = link.bytes();
    frames = link.ofA().stats().framesIn + link.ofB().stats().framesIn;
    Link equal(a, b);
    equal.run();
    greeting = equal.bytes();
  }
  ASSERT_GT(frames, 25u);
  for (std::size_t cut = 0; cut < frames; ++cut) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b");
    prepare(a, b, acquainted);
    std::size_t arrived = 0;
    {
      Link link(a, b, smallSegments());
      ASSERT_TRUE(link.runUntilCut(cut));
      arrived = link.ofA().stats().bytesIn + link.ofB().stats().bytesIn;
      a.flush(), b.flush();
    }
    Device c("c");
    if (newcomer) sync(a, c);  // b has not heard of c's writer: the lists differ again
    const std::size_t rest = sync(a, b, smallSegments());
    expectEqual(a, b);
    // Beyond what was missing: another greeting, WRITERS, two tokens, names of writers.
    EXPECT_LE(rest, whole - arrived + greeting + 600);
  }
}

TEST(Interrupted, StrangersResumeWhereTheyWereCut) { expectResumes(false); }
TEST(Interrupted, AcquaintancesResumeWhereTheyWereCut) { expectResumes(true); }
TEST(Interrupted, AWriterThatOneSideLearntMeanwhileIsNoHindrance) { expectResumes(true, true); }

// A field delta that had no base is a gap in the walk that the resume token speaks of: it must not be handed back.
TEST(Interrupted, ATokenNeverSpansABrokenDelta) {
  for (std::size_t cut = 0; cut < 60; ++cut) {
    SCOPED_TRACE("cut after frame " + std::to_string(cut));
    Device a("a"), b("b");
    for (int i = 0; i < 30; ++i) {
      a.write("agent-" + std::to_string(i), [](AgentState& s, const std::string& host) {
        s.slots[0] = {"\"" + std::string(90, 'x') + "\"", 1, host};
      });
    }
    sync(a, b);
    for (int i = 0; i < 30; ++i) a.write("agent-" + std::to_string(i), failures(7));  // deltas
    for (int i = 0; i < 10; ++i) b.write("agent-" + std::to_string(i), failures(9));  // takes their bases away
    SessionOptions tiny;
    tiny.segmentBytes = 60;
    {
      Link link(a, b, tiny);
      if (!link.runUntilCut(cut)) break;
    }
    a.flush(), b.flush();
    sync(a, b, tiny);
    expectEqual(a, b);
    EXPECT_EQ(b.antichain("agent-1").size(), 2u);
    EXPECT_TRUE(b.incidents().empty());
    if (HasFailure()) return;
  }
}

// Rule 2, where the newest version of a writer has gone again before its round was complete: what comes later below its
// place must still be sent on.
TEST(Interrupted, AWalkForgetsNothingBelowAVersionThatWasSuperseded) {
  Device d("d"), a("a"), b("b");
  SessionOptions tiny;
  tiny.segmentBytes = 1;  // a commit in each segment
  // d's later commit reaches a in a round that breaks off; its earlier one does not: a already had it and it was
  // overwritten at d meanwhile, so only "late" is under way.
  d.write("early", failures(1));
  d.write("late", failures(2));
  Device relay("relay");
  sync(d, relay);
  d.write("early", failures(3));  // at d, "early" is now the newest
  {
    // Only the first segment of d arrives: "late", dot 2.
    Link link(d, a, tiny);
    for (int i = 0; i < 20 && a.agents().keys(Kind::agentState).empty(); ++i) {
      link.say(1);
      while (!link.queueToA().empty()) link.deliverToA();
      if (!link.queueToB().empty()) link.deliverToB();
    }
  }
  ASSERT_EQ(a.agents().keys(Kind::agentState), (std::vector<std::string>{"late"}));
  // a passes it on, in a session that stays open.
  Link live(a, b);
  live.run();
  ASSERT_EQ(b.agents().keys(Kind::agentState), (std::vector<std::string>{"late"}));
  a.write("late", failures(4));  // nothing of d's is held now
  // The relay, who knows the earlier dot still, commits both to a.
  sync(relay, a);
  live.run();
  EXPECT_EQ(a.agents().clock(), b.agents().clock());
  expectEqual(a, b);
  EXPECT_EQ(b.view("early").consecutiveFailureCount, 1u);
  EXPECT_TRUE(a.incidents().empty());
  EXPECT_TRUE(b.incidents().empty());
}

// A round that is larger than the smaller of the two windows goes on by acknowledgements.
TEST(Interrupted, ASmallWindowOnOneSideOnlyDoesNotStall) {
  Device a("a"), b("b");
  for (int i = 0; i < 300; ++i) a.write("agent-" + std::to_string(i), failures(i));
  SessionOptions small = smallSegments();
  small.window = 1000;
  SyncSession ofA(a.replica(), small, 0), ofB(b.replica(), {}, 0);
  std::string out;
  for (int i = 0; i < 1000; ++i) {
    out.clear();
    ofA.produce(out, std::size_t{1} << 30, 0);
    a.flush();
    for (const std::string& frame : framesOf(out)) ASSERT_TRUE(ofB.receive(frame, 0).ok());
    out.clear();
    ofB.produce(out, std::size_t{1} << 30, 0);
    b.flush();
    for (const std::string& frame : framesOf(out)) ASSERT_TRUE(ofA.receive(frame, 0).ok());
  }
  EXPECT_TRUE(ofA.quiet());
  expectEqual(a, b);
}

}  // namespace
}  // namespace witan::replication::test::interrupted_test
