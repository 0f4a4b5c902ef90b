// Stories of the rules of sync. Each holds for the real room and is spoiled by a mutant: sync_corners_test runs them on
// the one, mutants/rules_test on both. False: a rule was broken.
#pragma once

#include "tests/replication/stories.h"

namespace witan::replication::test {

inline bool agree(std::initializer_list<Device*> devices) {
  for (Device* device : devices) {
    if (!device->replica().incidents()->empty()) return false;
    for (const std::string& id : device->replica().spaceIds()) {
      const Space* mine = device->replica().findSpace(id);
      const Space* first = (*devices.begin())->replica().findSpace(id);
      if (first == nullptr || mine->clock() != first->clock() || mine->digest() != first->digest()) return false;
    }
  }
  return true;
}

// a:1 was superseded by b:1 at a; d gets a:2 and nothing else before a is lost with b. c still has a:1.
inline bool aSessionBreaksAndTheSenderIsLost() {
  Device a("a"), b("b"), c("c"), d("d");
  a.write("agent-1", bulkyFailures(1));
  sync(a, c);
  sync(a, b);
  b.write("agent-1", bulkyFailures(2));
  sync(a, b);
  a.write("agent-2", bulkyFailures(3));
  cutOnce(a, d, [&] { return !d.antichain("agent-2").empty(); });
  sync(c, d);
  return agree({&c, &d}) && d.antichain("agent-1").size() == 1;
}

// c passes a:2 on, supersedes it, and gets the older a:1 only then.
inline bool anOlderVersionArrivesLater() {
  Device a("a"), b("b"), c("c"), d("d"), e("e"), f("f");
  a.write("agent-1", bulkyFailures(1));
  sync(a, f);
  sync(f, b);
  b.write("agent-1", bulkyFailures(2));
  sync(a, b);
  a.write("agent-2", bulkyFailures(3));
  cutOnce(a, e, [&] { return !e.antichain("agent-2").empty(); });
  if (!e.antichain("agent-1").empty()) return false;
  Link live(c, d);
  live.run();
  sync(c, e);
  live.run();
  if (d.antichain("agent-2").size() != 1) return false;
  c.write("agent-2", bulkyFailures(4));
  sync(c, f);
  live.run();
  return agree({&c, &d}) && d.antichain("agent-1").size() == 1;
}

// The same, but the session breaks in between, and what to resume from lies above a:1.
inline bool anOlderVersionArrivesBeforeTheWalkIsResumed() {
  Device a("a"), b("b"), c("c"), d("d"), e("e"), f("f");
  a.write("agent-1", bulkyFailures(1));
  sync(a, f);
  sync(f, b);
  b.write("agent-1", bulkyFailures(2));
  sync(a, b);
  a.write("agent-2", bulkyFailures(3));
  cutOnce(a, e, [&] { return !e.antichain("agent-2").empty(); });
  sync(c, e);
  c.write("agent-3", bulkyFailures(4));
  cutOnce(c, d, [&] { return !d.antichain("agent-2").empty(); });
  sync(c, f);
  sync(c, d);
  return agree({&c, &d}) && d.antichain("agent-1").size() == 1;
}

// A frame with a:1 is still under way to b when c's successor of it is everywhere and stripped.
inline bool aLateFrameBringsWhatWasSuperseded() {
  Device a("a"), b("b"), c("c");
  for (Device* device : {&a, &b, &c}) admit(a, *device);
  a.write("agent-0", bulkyFailures(1));
  sync(a, b);
  sync(a, c);
  Link late(a, b);
  late.run();
  a.write("agent-1", bulkyFailures(1));
  late.say(1 << 20);
  sync(a, c);
  c.write("agent-1", bulkyFailures(2));
  for (int i = 0; i < 2; ++i) {
    sync(a, c);
    sync(b, c);
  }
  stabilise(b);
  while (!late.queueToB().empty()) late.deliverToB();
  return b.antichain("agent-1").size() == 1;
}

// d has c:1's predecessor and needs c:1's context.
inline bool aContextIsNeededElsewhere() {
  Device a("a"), c("c"), d("d");
  for (Device* device : {&a, &c, &d}) admit(a, *device);
  a.write("agent-1", bulkyFailures(1));
  sync(a, c);
  sync(a, d);
  c.write("agent-1", bulkyFailures(2));
  stabilise(c);
  sync(c, d);
  return agree({&c, &d}) && d.antichain("agent-1").size() == 1;
}

inline bool manySegments() {
  Device a("a"), b("b");
  for (const char* agent : {"agent-1", "agent-2", "agent-3"}) a.write(agent, bulkyFailures(1));
  sync(a, b, onePerSegment());
  return agree({&a, &b});
}

// a has overwritten the base of b's delta.
inline bool aDeltaHasNoBase() {
  Device a("a"), b("b");
  b.write("agent-1", bulkyFailures(1));
  sync(a, b);
  b.write("agent-1", bulkyFailures(2));
  a.write("agent-1", bulkyFailures(3));
  sync(a, b);
  return agree({&a, &b});
}

inline bool aSessionBreaksBeforeTheRetry() {
  for (std::size_t frames = 0; frames < 20; ++frames) {
    Device a("a"), b("b");
    b.write("agent-1", bulkyFailures(1));
    sync(a, b);
    b.write("agent-1", bulkyFailures(2));
    b.write("agent-2", bulkyFailures(1));
    b.write("agent-3", bulkyFailures(1));
    a.write("agent-1", bulkyFailures(3));
    Link(a, b, onePerSegment()).runUntilCut(frames);
    sync(a, b);
    if (a.antichain("agent-1").size() != 2 || !agree({&a, &b})) return false;
  }
  return true;
}

inline bool aDeletionReachesEverybody() {
  Device a("a"), b("b");
  for (Device* device : {&a, &b}) admit(a, *device);
  a.write("agent-1", bulkyFailures(1));
  sync(a, b);
  remove(a, "agent-1");
  stabilise(a);
  sync(a, b);
  return agree({&a, &b}) && b.antichain("agent-1").empty();
}

// s has admitted n; b hears s's acknowledgement and not of n.
inline bool anAckComesBeforeItsStatements() {
  for (std::size_t frames = 0; frames < 16; ++frames) {
    Device a("a"), b("b"), s("s"), n("n");
    for (Device* device : {&a, &b, &s}) admit(a, *device);
    sync(a, b);
    sync(a, s);
    b.write("agent-1", bulkyFailures(1));
    sync(b, s);
    admit(s, n);
    sync(s, n);
    if (n.antichain("agent-1").size() != 1) return false;
    sync(a, b);
    a.write("agent-1", bulkyFailures(2));
    sync(a, b);
    sync(a, s);
    Link(s, b, onePerSegment()).runUntilCut(frames);
    stabilise(b);
    // What a had seen is needed, as long as the newcomer may have the version before.
    if (b.agents().versions(Kind::agentState, "agent-1")->front().context.entries().size() < 2) return false;
    sync(n, b);
    sync(n, b);
    if (n.antichain("agent-1").size() != 1) return false;
    sync(a, n);
    if (!a.replica().incidents()->empty()) return false;
  }
  return true;
}

}  // namespace witan::replication::test
