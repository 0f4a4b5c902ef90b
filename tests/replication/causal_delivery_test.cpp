// The event lane: each unit once, after its causes, whatever the order of arrival.
#include "replication/causal_delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/replication/record_history.h"

namespace witan::replication {
namespace {

// A unit with all of its causal past, for the oracle; `unit.deps` has only what changed since the writer's last one.
struct Known {
  EventUnit unit;
  VectorClock past;
};

std::vector<Known> generatedUnits() {
  const auto devices = test::uniform<std::size_t>(1, 5);
  std::vector<VectorClock> seen(devices), told(devices);
  std::vector<Known> all;
  for (int i = test::uniform(1, 25); i > 0; --i) {
    const auto d = test::uniform<std::size_t>(0, devices);
    const auto from = test::uniform<std::size_t>(0, devices);
    if (test::uniform(0, 2) == 0) seen[d].join(seen[from]);
    const std::string host(1, static_cast<char>('A' + d));
    const std::uint64_t counter = seen[d].at(host) + 1;
    VectorClock deps;
    for (const auto& [h, c] : seen[d].entries())
      if (h != host && told[d].at(h) < c) deps.set(h, c);
    told[d] = seen[d];
    const VectorClock past = seen[d];
    seen[d].set(host, counter);
    all.push_back({{{host, counter}, deps, "unit " + host + std::to_string(counter)}, past});
  }
  return all;
}

std::vector<Known> arrivals(std::vector<Known> all) {
  for (int i = test::uniform(0, 6); i > 0; --i) all.push_back(all[test::uniform<std::size_t>(0, all.size())]);
  for (std::size_t i = all.size() - 1; i > 0; --i) std::swap(all[i], all[test::uniform<std::size_t>(0, i + 1)]);
  return all;
}

const Known& knownOf(const std::vector<Known>& all, const Dot& dot) {
  return *std::find_if(all.begin(), all.end(), [&](const Known& k) { return k.unit.dot == dot; });
}

// The brute-force check: once each, whole, and everything in its past before it (or covered by catch-up).
bool isCausal(const std::vector<Known>& all, const std::vector<EventUnit>& delivered, const VectorClock& covered) {
  std::set<Dot> before;
  for (const EventUnit& unit : delivered) {
    const Known& known = knownOf(all, unit.dot);
    if (unit != known.unit || !before.insert(unit.dot).second || covered.covers(unit.dot)) return false;
    for (const auto& [host, last] : known.past.entries())
      for (std::uint64_t c = covered.at(host) + 1; c <= last; ++c)
        if (!before.contains({host, c})) return false;
  }
  return true;
}

RC_GTEST_PROP(CausalDelivery, EachUnitOnceAfterItsCausesInAnyOrderOfArrival, ()) {
  test::onManyHistories([] {
    const auto all = generatedUnits();
    CausalDelivery delivery;
    std::vector<EventUnit> out;
    for (const Known& k : arrivals(all)) RC_ASSERT(delivery.offer(k.unit, out) != UnitArrival::dropped);
    RC_ASSERT(out.size() == all.size());
    RC_ASSERT(isCausal(all, out, {}));
    RC_ASSERT(delivery.waiting() == 0u);
    RC_ASSERT(delivery.waitingBytes() == 0u);
    RC_ASSERT(delivery.wanted().empty());
  });
}

RC_GTEST_PROP(CausalDelivery, WhatCatchUpCoveredIsNeverDelivered, ()) {
  test::onManyHistories([] {
    const auto all = generatedUnits();
    // A clock that some replica had: what one device had seen, with its own unit.
    const Known& cut = all[test::uniform<std::size_t>(0, all.size())];
    VectorClock covered = cut.past;
    covered.set(cut.unit.dot.host, cut.unit.dot.counter);
    const auto order = arrivals(all);
    const auto when = test::uniform<std::size_t>(0, order.size() + 1);
    CausalDelivery delivery;
    std::vector<EventUnit> before, after;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == when) delivery.covered(covered, after);
      delivery.offer(order[i].unit, i < when ? before : after);
    }
    if (when == order.size()) delivery.covered(covered, after);
    RC_ASSERT(isCausal(all, before, {}));
    std::set<Dot> once;
    for (const EventUnit& u : before) RC_ASSERT(once.insert(u.dot).second);
    for (const EventUnit& u : after) {
      RC_ASSERT(once.insert(u.dot).second);
      RC_ASSERT(!covered.covers(u.dot));
    }
    for (const Known& k : all) RC_ASSERT(once.contains(k.unit.dot) || covered.covers(k.unit.dot));
    RC_ASSERT(delivery.waiting() == 0u);
    RC_ASSERT(delivery.wanted().empty());
  });
}

// The oracle fires: on what a delivery by writer order alone would do.
TEST(CausalDelivery, TheOracleRefusesAnEffectBeforeItsCause) {
  const std::vector<Known> all{{{{"A", 1}, {}, "cause"}, {}}, {{{"B", 1}, {{"A", 1}}, "effect"}, {{"A", 1}}}};
  EXPECT_TRUE(isCausal(all, {all[0].unit, all[1].unit}, {}));
  EXPECT_FALSE(isCausal(all, {all[1].unit, all[0].unit}, {}));
  EXPECT_FALSE(isCausal(all, {all[0].unit, all[0].unit}, {}));
  EXPECT_FALSE(isCausal(all, {all[0].unit}, {{"A", 1}}));
}

// A small buffer loses units, says from where to pull, and after the pull nothing is missing or twice.
RC_GTEST_PROP(CausalDelivery, WhatWasDroppedIsWantedAndComesByPull, ()) {
  test::onManyHistories([] {
    const auto all = generatedUnits();
    CausalDelivery delivery({.units = 2});
    std::vector<EventUnit> out;
    for (const Known& k : arrivals(all)) {
      delivery.offer(k.unit, out);
      RC_ASSERT(delivery.waiting() <= 2u * 5u);
    }
    for (std::size_t rounds = 0; out.size() < all.size(); ++rounds) {
      RC_ASSERT(rounds <= all.size());
      const auto wanted = delivery.wanted();
      RC_ASSERT(!wanted.empty());
      for (const Dot& from : wanted) delivery.offer(knownOf(all, from).unit, out);
    }
    RC_ASSERT(isCausal(all, out, {}));
    RC_ASSERT(delivery.wanted().empty());
  });
}

EventUnit unit(const std::string& host, std::uint64_t counter, VectorClock deps = {}, std::string payload = "") {
  return {{host, counter}, std::move(deps), std::move(payload)};
}

TEST(CausalDelivery, BufferIsBoundedByUnitsAndBytesAndKeepsWhatComesFirst) {
  CausalDelivery delivery;
  std::vector<EventUnit> out;
  for (std::uint64_t c = 3000; c >= 2; --c) EXPECT_NE(delivery.offer(unit("A", c), out), UnitArrival::duplicate);
  EXPECT_EQ(delivery.waiting(), 1024u);
  EXPECT_EQ(delivery.offer(unit("A", 2000), out), UnitArrival::dropped);
  EXPECT_THAT(delivery.wanted(), testing::ElementsAre(Dot{"A", 1}));
  EXPECT_EQ(delivery.offer(unit("A", 1), out), UnitArrival::accepted);
  EXPECT_EQ(out.size(), 1025u);
  EXPECT_THAT(delivery.wanted(), testing::ElementsAre(Dot{"A", 1026}));
  delivery.covered({{"A", 3000}}, out);
  EXPECT_TRUE(delivery.wanted().empty());

  const std::string large(400 * 1024, 'x');
  for (const std::uint64_t c : {2u, 3u, 4u}) delivery.offer(unit("B", c, {}, large), out);
  EXPECT_EQ(delivery.waiting(), 2u);
  EXPECT_LE(delivery.waitingBytes(), 1024u * 1024u);
}

// A peer that names writers and counters that do not exist gets no more room than the limits.
TEST(CausalDelivery, HostileUnitsAreBounded) {
  CausalDelivery delivery({.writers = 8, .dependencies = 4});
  std::vector<EventUnit> out;
  EXPECT_EQ(delivery.offer(unit("", 1), out), UnitArrival::malformed);
  EXPECT_EQ(delivery.offer(unit("A", 0), out), UnitArrival::malformed);
  EXPECT_EQ(delivery.offer(unit("A", 1, {{"B", 1}, {"C", 1}, {"D", 1}, {"E", 1}, {"F", 1}}), out),
            UnitArrival::malformed);
  for (int i = 0; i < 100; ++i) delivery.offer(unit("w" + std::to_string(i), ~0ull), out);
  EXPECT_EQ(delivery.waiting(), 8u);
  EXPECT_LE(delivery.wanted().size(), 16u);
  for (int i = 100; i < 200; ++i) delivery.offer(unit("w" + std::to_string(i), 1), out);
  EXPECT_EQ(out.size(), 8u);
  EXPECT_EQ(delivery.delivered().entries().size(), 8u);
}

TEST(CausalDelivery, WaitsForADependencyThatChangesAfterCatchUp) {
  CausalDelivery delivery;
  std::vector<EventUnit> out;
  delivery.offer(unit("A", 1, {{"B", 5}}), out);
  EXPECT_THAT(delivery.wanted(), testing::ElementsAre(Dot{"B", 1}));
  delivery.covered({{"A", 1}, {"B", 5}}, out);
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(delivery.wanted().empty());
  delivery.offer(unit("A", 2, {{"C", 1}}), out);
  delivery.offer(unit("A", 1), out);
  EXPECT_TRUE(out.empty());
  delivery.offer(unit("C", 1), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].dot, (Dot{"A", 2}));
}

}  // namespace
}  // namespace witan::replication
