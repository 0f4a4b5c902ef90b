// The rules of sync, each with its failing twin: the same story on the real room and on one that breaks the rule, and
// how many generated histories it takes to notice.
#include <cstdio>

#include "tests/replication/history_world.h"
#include "tests/replication/stories.h"
#include "tests/with_mutant.h"

namespace witan::replication::test {
namespace {

using witan::tests::WithMutant;

// The first generated history, up to `most`, that the mutant spoils; 0: none.
std::uint64_t caughtAt(std::string_view mutant, std::uint64_t most) {
  const WithMutant with(mutant);
  for (std::uint64_t seed = 1; seed <= most; ++seed)
    if (!outcomeOf(makePlot(seed)).empty()) return seed;
  return 0;
}

void expectStory(const char* name, bool (*story)(), std::string_view mutant) {
  EXPECT_TRUE(story()) << name;
  const WithMutant with(mutant);
  EXPECT_FALSE(story()) << name << " is not noticed";
}

void expectCaught(const char* name, std::string_view mutant, std::uint64_t most) {
  const std::uint64_t seed = caughtAt(mutant, most);
  std::printf("%s: noticed in generated history %llu\n", name, static_cast<unsigned long long>(seed));
  EXPECT_NE(seed, 0u) << name << ": not noticed in " << most << " generated histories";
}

bool agree(std::initializer_list<Device*> devices) {
  for (Device* device : devices) {
    if (!device->replica().incidents()->empty()) return false;
    if (device->agents().digest() != (*devices.begin())->agents().digest()) return false;
  }
  return true;
}

// a:1 was superseded by b:1 at a; d gets a:2 and nothing else before a is lost with b. c still has a:1.
bool aSessionBreaksAndTheSenderIsLost() {
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
bool anOlderVersionArrivesLater() {
  Device a("a"), b("b"), c("c"), d("d"), e("e"), f("f");
  a.write("agent-1", bulkyFailures(1));
  sync(a, f);
  sync(f, b);
  b.write("agent-1", bulkyFailures(2));
  sync(a, b);
  a.write("agent-2", bulkyFailures(3));
  cutOnce(a, e, [&] { return !e.antichain("agent-2").empty(); });
  Link live(c, d);
  live.run();
  sync(c, e);
  live.run();
  c.write("agent-2", bulkyFailures(4));
  sync(c, f);
  live.run();
  return agree({&c, &d}) && d.antichain("agent-1").size() == 1;
}

// The same, but the session breaks in between, and what to resume from lies above a:1.
bool anOlderVersionArrivesBeforeTheWalkIsResumed() {
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
bool aLateFrameBringsWhatWasSuperseded() {
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
bool aContextIsNeededElsewhere() {
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

bool manySegments() {
  Device a("a"), b("b");
  for (const char* agent : {"agent-1", "agent-2", "agent-3"}) a.write(agent, bulkyFailures(1));
  sync(a, b, onePerSegment());
  return agree({&a, &b});
}

// a has overwritten the base of b's delta.
bool aDeltaHasNoBase() {
  Device a("a"), b("b");
  b.write("agent-1", bulkyFailures(1));
  sync(a, b);
  b.write("agent-1", bulkyFailures(2));
  a.write("agent-1", bulkyFailures(3));
  sync(a, b);
  return agree({&a, &b});
}

bool aSessionBreaksBeforeTheRetry() {
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
    if (!agree({&a, &b})) return false;
  }
  return true;
}

bool aDeletionReachesEverybody() {
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
bool anAckComesBeforeItsStatements() {
  for (std::size_t frames = 0; frames < 16; ++frames) {
    Device a("a"), b("b"), s("s"), n("n");
    for (Device* device : {&a, &b, &s}) admit(a, *device);
    sync(a, b);
    sync(a, s);
    b.write("agent-1", bulkyFailures(1));
    sync(b, s);
    admit(s, n);
    sync(s, n);
    sync(a, b);
    a.write("agent-1", bulkyFailures(2));
    sync(a, b);
    sync(a, s);
    Link(s, b, onePerSegment()).runUntilCut(frames);
    stabilise(b);
    sync(n, b);
    sync(n, b);
    if (n.antichain("agent-1").size() != 1) return false;
  }
  return true;
}

TEST(FourRules, Rule1_TheVectorRisesAtTheCommitOnly) {
  expectStory("rule 1", aSessionBreaksAndTheSenderIsLost, "advanceEarly");
}
TEST(FourRules, Rule2_TheWalkGoesByTheWritersCounter) {
  expectStory("rule 2", anOlderVersionArrivesLater, "orderByArrival");
}
TEST(FourRules, Rule3_WhatIsCoveredAndNotHeldIsDropped) {
  expectStory("rule 3", aLateFrameBringsWhatWasSuperseded, "noGate");
}
TEST(FourRules, Rule4_ContextsShrinkWhenEveryDeviceHasThem) {
  expectStory("rule 4", aContextIsNeededElsewhere, "stripUnstable");
}
TEST(MoreRules, ACommitComesWhenTheWalkIsComplete) { expectStory("early commit", manySegments, "commitEarly"); }
TEST(MoreRules, ATokenIsVoidAfterAnOlderArrival) {
  expectStory("old token", anOlderVersionArrivesBeforeTheWalkIsResumed, "trustOldToken");
}
TEST(MoreRules, ATokenIsVoidAfterARetry) { expectStory("void token", aSessionBreaksBeforeTheRetry, "keepVoidToken"); }
TEST(MoreRules, ADeltaNeedsItsBase) { expectStory("missing base", aDeltaHasNoBase, "ignoreMissingBase"); }
TEST(MoreRules, ATombstoneStaysUntilEveryDeviceHasIt) {
  expectStory("tombstone", aDeletionReachesEverybody, "forgetTombstones");
}
TEST(MoreRules, AnAckCountsOnlyWithItsStatements) {
  expectStory("unheard", anAckComesBeforeItsStatements, "ackUnheard");
}

// The others need a meeting of so many chances that the stories above are what guards them.
TEST(GeneratedHistories, NoticeTheMutantsThatChanceMeets) {
  expectCaught("advanceEarly", "advanceEarly", 500);
  expectCaught("stripUnstable", "stripUnstable", 500);
  expectCaught("commitEarly", "commitEarly", 500);
  expectCaught("ignoreMissingBase", "ignoreMissingBase", 500);
  expectCaught("forgetTombstones", "forgetTombstones", 500);
}

}  // namespace
}  // namespace witan::replication::test
