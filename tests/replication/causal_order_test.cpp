// The event lane: notification batches come out once each, after their causes, and the same on every device.
#include "replication/causal_order.h"

#include <rapidcheck/gtest.h>
#include <map>

#include "replication/records/record_schemas.h"
#include "tests/replication/cluster.h"

namespace witan::replication::test::causal_order_test {
namespace {

BatchEvent batch(std::string host, std::uint64_t counter, std::vector<DotEntry> deps) {
  BatchBody body;
  body.localBatchId = host + "-" + std::to_string(counter);
  body.changes = {{"journal", "e-1", ChangeOrigin::local}};
  body.tokens = {{TokenClass::entityId, std::nullopt, "e-1"}};
  body.deps = std::move(deps);
  auto bytes = encodeRecord(body);
  WITAN_CHECK(bytes.ok(), "a batch of ours is well formed");
  return {{std::move(host), counter}, *std::move(bytes)};
}

std::vector<Dot> dotsOf(const std::vector<BatchEvent>& batches) {
  std::vector<Dot> out;
  for (const BatchEvent& b : batches) out.push_back(b.dot);
  return out;
}

TEST(CausalOrder, ACauseComesFirstWhateverItsName) {
  auto ordered = causalOrder({batch("a", 4, {{"z", 2}}), batch("z", 2, {}), batch("a", 3, {})}, recordSchemas());
  ASSERT_TRUE(ordered.ok());
  EXPECT_EQ(dotsOf(*ordered), (std::vector<Dot>{{"a", 3}, {"z", 2}, {"a", 4}}));
}

// By name alone a/4 would come before z/2: what the order would be without the dependencies.
TEST(CausalOrder, WithoutDependenciesTheOrderWouldBreak) {
  auto ordered = causalOrder({batch("a", 4, {}), batch("z", 2, {}), batch("a", 3, {})}, recordSchemas());
  ASSERT_TRUE(ordered.ok());
  EXPECT_EQ(dotsOf(*ordered), (std::vector<Dot>{{"a", 3}, {"a", 4}, {"z", 2}}));
}

TEST(CausalOrder, ACycleOfLiarsLosesNothing) {
  auto ordered = causalOrder({batch("a", 1, {{"b", 1}}), batch("b", 1, {{"a", 1}})}, recordSchemas());
  ASSERT_TRUE(ordered.ok());
  EXPECT_EQ(ordered->size(), 2u);
}

TEST(CausalOrder, GarbageIsAnError) { EXPECT_FALSE(causalOrder({{{"a", 1}, "no batch"}}, recordSchemas()).ok()); }

RC_GTEST_PROP(CausalOrder, EachAfterItsCausesAndTheSameForAnyOrder, ()) {
  // A history: each commit of a device sees some prefix of the others' commits; batches name what is new since the
  // device's previous batch.
  const int devices = *rc::gen::inRange(1, 5);
  std::vector<VectorClock> seen(devices), told(devices);
  std::vector<BatchEvent> all;
  std::map<Dot, VectorClock> past;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, devices), rc::gen::inRange(0, devices)));
  for (const auto& [who, other] : steps) {
    if (who != other) {
      seen[who].join(seen[other]);
      continue;
    }
    const std::string host(1, static_cast<char>('z' - who));
    std::vector<DotEntry> deps;
    for (const auto& [h, c] : seen[who].entries())
      if (h != host && c > told[who].at(h)) deps.push_back({h, c});
    const Dot dot{host, seen[who].at(host) + 1};
    past[dot] = seen[who];
    seen[who].set(host, dot.counter);
    told[who] = seen[who];
    all.push_back(batch(dot.host, dot.counter, std::move(deps)));
  }
  auto shuffled = all;
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  SeededRandom random(seed);
  for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.below(i)]);
  auto ordered = causalOrder(shuffled, recordSchemas()), again = causalOrder(all, recordSchemas());
  RC_ASSERT(ordered.ok() && again.ok());
  RC_ASSERT(*ordered == *again);
  RC_ASSERT(ordered->size() == all.size());
  VectorClock delivered;
  for (const BatchEvent& event : *ordered) {
    RC_ASSERT(le(past[event.dot], delivered));
    RC_ASSERT(delivered.at(event.dot.host) + 1 == event.dot.counter);
    delivered.set(event.dot.host, event.dot.counter);
  }
}

// 003 section 3.3: two devices that observe the same change derive the same wake identity. Each hands the batch to its
// subscribers once, also across a restart, and never before what it rests on.
TEST(EventLane, EachDeviceIsHandedEachBatchOnceInCausalOrder) {
  Device a("a"), b("b"), c("c");
  const auto tell = [](Device& device, const std::string& key) {
    BatchBody body;
    body.localBatchId = "batch";
    body.changes = {{"journal", key, ChangeOrigin::local}};
    body.tokens = {{TokenClass::entityId, std::nullopt, key}};
    const VectorClock deps = device.journal().dependencies();
    for (const auto& [host, counter] : deps.entries()) body.deps.push_back({host, counter});
    auto bytes = encodeRecord(body);
    ASSERT_TRUE(bytes.ok());
    const Write write{Kind::batch, "", *bytes, false};
    ASSERT_TRUE(device.replica().commit(DatabaseName::journal, "main", {&write, 1}).ok());
    device.flush();
  };
  tell(c, "first");
  sync(c, a);
  tell(a, "second");
  tell(a, "third");
  sync(a, b);
  auto events = b.journal().takeEvents();
  ASSERT_TRUE(events.ok());
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ((*events)[0].dot.host, c.replica().writer());
  auto again = b.journal().takeEvents();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->empty());
  // Not consumed: after a restart they are handed out again, since the subscriber may not have acted.
  b.crash();
  EXPECT_EQ(b.journal().takeEvents()->size(), 3u);
  b.journal().consumed(b.journal().vector());
  b.flush();
  b.crash();
  EXPECT_TRUE(b.journal().takeEvents()->empty());
}

}  // namespace
}  // namespace witan::replication::test::causal_order_test
