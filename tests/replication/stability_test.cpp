#include "replication/stability.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace witan::replication::stability_test {
namespace {

using Names = std::vector<std::string>;

AckTable::WaitedFor always(const Names& devices) {
  return [devices](const std::string&) { return devices; };
}
constexpr std::int64_t kDay = 24LL * 60 * 60 * 1000;

VectorClock anyClock() {
  VectorClock clock;
  for (const char* writer : {"a", "b", "c"}) clock.set(writer, *rc::gen::inRange<std::uint64_t>(0, 5));
  return clock;
}
AckTable anyTable() {
  AckTable table;
  for (const char* space : {"journal", "state"})
    for (const char* device : {"a", "b", "c"})
      if (*rc::gen::arbitrary<bool>()) table.record(space, device, anyClock(), 0);
  return table;
}

TEST(Stability, IsThePointwiseMinimumOverTheDevices) {
  AckTable table;
  const Names both{"a", "b"};
  EXPECT_TRUE(table.record("state", "a", {{"a", 5}, {"b", 2}}, 0));
  EXPECT_EQ(table.stable("state", both), VectorClock{});  // b was never heard of
  EXPECT_TRUE(table.record("state", "b", {{"a", 3}, {"b", 4}}, 0));
  EXPECT_EQ(table.stable("state", both), (VectorClock{{"a", 3}, {"b", 2}}));
  EXPECT_EQ(table.stable("journal", both), VectorClock{});
  EXPECT_EQ(table.stable("state", Names{"a", "b", "c"}), VectorClock{});
  EXPECT_EQ(table.stable("state", Names{}), VectorClock{});
  EXPECT_EQ(table.stable("state", Names{"a"}), table.acked("state", "a"));
  EXPECT_FALSE(table.record("state", "a", {{"a", 4}}, 0));  // an old one takes nothing back
  EXPECT_EQ(table.acked("state", "a").at("a"), 5u);
}

TEST(Stability, AfterARetirementTheDeviceIsNotWaitedFor) {
  AckTable table;
  table.record("state", "a", {{"a", 5}}, 0);
  table.record("state", "b", {{"a", 5}}, 0);
  table.record("state", "c", {{"a", 1}}, 0);
  EXPECT_EQ(table.stable("state", Names{"a", "b", "c"}), (VectorClock{{"a", 1}}));
  const Hash before = table.digest();
  table.keepOnly(Names{"a", "b"});
  EXPECT_EQ(table.stable("state", Names{"a", "b"}), (VectorClock{{"a", 5}}));
  EXPECT_NE(table.digest(), before);
  EXPECT_EQ(table.acked("state", "c"), VectorClock{});
}

// Acks may be gossiped, repeated and reordered.
RC_GTEST_PROP(Stability, JoinIsASemilattice, ()) {
  const AckTable a = anyTable(), b = anyTable(), c = anyTable();
  const auto joined = [](AckTable x, const AckTable& y) {
    x.join(y, 0);
    return x;
  };
  RC_ASSERT(joined(a, b).entries() == joined(b, a).entries());
  RC_ASSERT(joined(joined(a, b), c).entries() == joined(a, joined(b, c)).entries());
  RC_ASSERT(joined(a, a).entries() == a.entries());
}

RC_GTEST_PROP(Stability, TheDigestTellsAndAJoinSaysWhetherItTaughtAnything, ()) {
  const AckTable a = anyTable();
  AckTable b = anyTable();
  RC_ASSERT((a.digest() == b.digest()) == (a.entries() == b.entries()));
  const bool teaches = std::any_of(a.entries().begin(), a.entries().end(), [&](const auto& space) {
    return std::any_of(space.second.begin(), space.second.end(),
                       [&](const auto& said) { return !le(said.second, b.acked(space.first, said.first)); });
  });
  RC_ASSERT(b.join(a, 0) == teaches);
  RC_ASSERT(!b.join(a, 0));
}

// What everybody has is never more than what anybody has, and never shrinks.
RC_GTEST_PROP(Stability, GrowsWithTheAcksAndBoundsNobody, ()) {
  const Names devices{"a", "b", "c"};
  AckTable table = anyTable();
  const VectorClock before = table.stable("state", devices);
  for (const std::string& device : devices) RC_ASSERT(le(before, table.acked("state", device)));
  table.join(anyTable(), 0);
  RC_ASSERT(le(before, table.stable("state", devices)));
}

TEST(Stability, HoldupsNameTheSilentAndAlarmAfter90Days) {
  AckTable table;
  const Names devices{"a", "b", "c", "d"};
  table.record("state", "a", {{"a", 9}}, 100 * kDay);
  table.record("state", "b", {{"a", 9}}, 1 * kDay);   // silent as well, but lacks nothing
  table.record("state", "c", {{"a", 3}}, 10 * kDay);  // 90 days
  table.expect("d", 11 * kDay);                       // joined, and never heard of
  const std::vector<Holdup> holdups = table.holdups(always(devices), 100 * kDay);
  ASSERT_EQ(holdups.size(), 2u);
  EXPECT_EQ(holdups[0].device, "c");
  EXPECT_TRUE(holdups[0].alarm);
  EXPECT_EQ(holdups[0].spaces, (Names{"state"}));
  EXPECT_EQ(holdups[0].text,
            "c holds up the tidying of 1 space: silent for 90 days; connect it, or retire it if it is lost");
  EXPECT_EQ(holdups[1].device, "d");
  EXPECT_FALSE(holdups[1].alarm);
  EXPECT_EQ(holdups[1].silentMs, 89 * kDay);

  // Gossip that repeats itself is no sign of life; its own word is, even if it says nothing new.
  AckTable gossip;
  gossip.record("state", "c", {{"a", 3}}, 0);
  table.join(gossip, 100 * kDay);
  EXPECT_TRUE(table.holdups(always(devices), 100 * kDay)[0].alarm);
  table.record("state", "c", {{"a", 3}}, 100 * kDay);
  EXPECT_FALSE(table.holdups(always(devices), 100 * kDay)[0].alarm);
  EXPECT_EQ(AckTable{}.holdups(always(devices), 0).size(), 0u);
}

TEST(Stability, NothingIsHeldUpByOneOfWhomNothingIsKnownButNothingIsMissing) {
  AckTable table;
  table.record("state", "a", {{"a", 1}}, 0);
  const std::vector<Holdup> holdups = table.holdups(always({"a", "x"}), 0);
  ASSERT_EQ(holdups.size(), 1u);
  EXPECT_EQ(holdups[0].silentMs, std::nullopt);
  EXPECT_FALSE(holdups[0].alarm);
  EXPECT_EQ(holdups[0].text, "x holds up the tidying of 1 space: nothing was ever heard of it");
}

TEST(Stability, NoSpaceIsHeldUpByADeviceThatMayNotHaveIt) {
  AckTable table;
  table.record("state", "a", {{"a", 2}}, 1);
  table.record("private", "a", {{"a", 2}}, 1);
  const auto holdups = table.holdups(
      [](const std::string& space) {
        return space == "private" ? Names{"a"} : Names{"a", "limited"};
      },
      5);
  ASSERT_EQ(holdups.size(), 1u);
  EXPECT_EQ(holdups[0].device, "limited");
  EXPECT_EQ(holdups[0].spaces, (Names{"state"}));
}

// A device with single roles is linked with others that it never acknowledges anything to.
TEST(Stability, WhatOnlyOthersTellOfADeviceIsNoTimeOfItsSilenceAndNoAlarm) {
  AckTable table;
  table.record("state", "a", {{"a", 2}}, 20'783 * kDay);
  table.record("state", "b", {{"a", 1}}, 0);
  const std::vector<Holdup> holdups = table.holdups(always({"a", "b"}), 20'783 * kDay);
  ASSERT_EQ(holdups.size(), 1u);
  EXPECT_EQ(holdups[0].silentMs, std::nullopt);
  EXPECT_FALSE(holdups[0].alarm);
  EXPECT_EQ(holdups[0].text, "b holds up the tidying of 1 space: only others tell of it here");
}

// One register on a device: versions and the gate, as design "Sync" rule 3 has them.
struct Register {
  std::map<Dot, VectorClock> versions;
  VectorClock vector;

  void arrive(const Dot& dot, const VectorClock& context) {
    if (versions.contains(dot) || vector.covers(dot)) return;
    for (const auto& [other, seen] : versions)
      if (seen.covers(dot)) return;
    std::erase_if(versions, [&](const auto& held) { return context.covers(held.first); });
    versions[dot] = context;
  }
  void syncFrom(const Register& peer) {
    for (const auto& [dot, context] : peer.versions) arrive(dot, context);
    vector.join(peer.vector);
  }
  std::vector<Dot> dots() const {
    std::vector<Dot> all;
    for (const auto& [dot, context] : versions) all.push_back(dot);
    return all;
  }
};

// Rule 4 of sync and its failing twin: x writes, y has seen it and overwrites it, z has the old one only.
TEST(Stability, RuleFourAndTheFailingTwinThatStripsEarly) {
  const Names devices{"x", "y", "z"};
  for (const bool early : {false, true}) {
    Register x, y, z;
    x.arrive({"x", 1}, {{"x", 1}});
    x.vector.raise("x", 1);
    y.syncFrom(x);
    z.syncFrom(x);
    const Dot second{"y", 1};
    const VectorClock context{{"x", 1}, {"y", 1}};
    y.arrive(second, context);
    y.vector.raise("y", 1);
    x.syncFrom(y);

    AckTable acks;
    acks.record("state", "x", x.vector, 0);
    acks.record("state", "y", y.vector, 0);
    EXPECT_FALSE(le(context, acks.stable("state", devices)));  // z has not said anything
    acks.record("state", "z", z.vector, 0);
    EXPECT_FALSE(le(context, acks.stable("state", devices)));  // nor that it has y's
    if (early) y.versions[second] = {{"y", 1}};
    z.syncFrom(y);
    EXPECT_EQ(z.vector, y.vector);
    EXPECT_EQ(z.dots() == y.dots(), !early);  // the twin: equal vectors, different content, for ever

    acks.record("state", "z", z.vector, 0);
    EXPECT_TRUE(le(context, acks.stable("state", devices)));
  }
}

}  // namespace
}  // namespace witan::replication::stability_test
