// Seed 003, section 5, on the real core:
//
//   Theorem 1 (Deterministic convergence)
//     Assume: 1. all synced updates are eventually delivered to all online replicas, 2. each replica applies `merge`
//     exactly as specified, 3. tie-break keys are globally deterministic.
//     Then all replicas converge to the same `AgentState` for each agent.
//   Practical implication: device order, retry order, and message interleavings may differ, but final merged state does
//   not.
//
// `merge` as specified does not give that (docs/FINDINGS.md, F1); antichain and view do. Deliveries are sessions with
// the device that made an update, in every order, with repetitions and interruptions.
#include <algorithm>
#include <numeric>

#include "tests/replication/stories.h"

namespace witan::replication::test::theorem1_test {
namespace {

struct Outcome {
  std::string bytes;  // of the view
  VectorClock vc;
  Digest digest;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcomeAt(Device& device, const std::string& agent) {
  const AgentView view = viewOf(device.antichain(agent), nullptr);
  return {encodeAgentState(view.state, "nobody"), view.vc, device.agents().digest()};
}

// Devices that each hold one update of the agent, and what they had seen of it when they wrote: F1's first
// counterexample (a:1 fails 5 times, a:2 knows better, b:1 beside them), a third writer, and one who had seen two of
// them.
struct Updates {
  Device a1{"a"}, a2{"a2"}, b{"b"}, c{"c"}, e{"e"};
  std::vector<Device*> holders{&a1, &a2, &b, &c, &e};

  Updates() {
    a1.write("agent-1", [](AgentState& s, const std::string& host) {
      s.consecutiveFailureCount = 5;
      s.slots[0] = {"\"from a\"", 1, host};
      s.schedule.nextWakeAt = 30;
    });
    sync(a1, a2);  // what a2 holds is the later of the two
    a2.write("agent-1", [](AgentState& s, const std::string&) {
      s.consecutiveFailureCount = 0;
      s.schedule.firedThrough = 30;
    });
    b.write("agent-1", [](AgentState& s, const std::string& host) {
      s.consecutiveFailureCount = 2;
      s.slots[0] = {"\"from b\"", 1, host};
      s.schedule.nextWakeAt = 20;
    });
    c.write("agent-1", [](AgentState& s, const std::string& host) {
      s.lifecycle = Lifecycle::dormant;
      s.processedCounterByHost.raise(host, 7);
      s.schedule.nextWakeAt = 40;
    });
    sync(b, e);
    sync(c, e);
    e.write("agent-1", [](AgentState& s, const std::string& host) { s.slots[1] = {"\"task\"", 3, host}; });
  }
};

TEST(Theorem1, DeterministicConvergence) {
  std::vector<int> order(5);
  std::iota(order.begin(), order.end(), 0);
  std::optional<Outcome> first;
  do {
    // Fresh updates each time: a delivery goes both ways and would let the makers learn of each other.
    Updates updates;
    Device replica("r");
    for (const int i : order) sync(replica, *updates.holders[static_cast<std::size_t>(i)]);
    const Outcome outcome = outcomeAt(replica, "agent-1");
    if (!first) first = outcome;
    ASSERT_EQ(outcome, *first) << "delivered in the order " << ::testing::PrintToString(order);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(first->vc.entries().size(), 5u);
}

// "retry order, and message interleavings may differ": each delivery is cut first, at every place, and repeated.
TEST(Theorem1, RetriesAndInterruptionsChangeNothing) {
  std::vector<int> order(5);
  std::iota(order.begin(), order.end(), 0);
  std::optional<Outcome> first;
  std::size_t cut = 0;
  do {
    Updates updates;
    Device replica("r");
    for (const int i : order)
      Link(replica, *updates.holders[static_cast<std::size_t>(i)], onePerSegment()).runUntilCut(cut++ % 14);
    for (const int i : order)
      for (int again = 0; again < 2; ++again) sync(*updates.holders[static_cast<std::size_t>(i)], replica);
    const Outcome outcome = outcomeAt(replica, "agent-1");
    if (!first) first = outcome;
    ASSERT_EQ(outcome, *first) << "delivered in the order " << ::testing::PrintToString(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// "for all d_i, d_j": when everything is delivered to everybody, everybody shows the same, by whatever routes.
TEST(Theorem1, AllReplicasShowOneState) {
  std::vector<int> order(5);
  std::iota(order.begin(), order.end(), 0);
  do {
    Updates updates;
    for (int round = 0; round < 2; ++round)  // a ring in this order, twice, delivers everything to everybody
      for (std::size_t i = 0; i < 5; ++i)
        sync(*updates.holders[static_cast<std::size_t>(order[i])],
             *updates.holders[static_cast<std::size_t>(order[(i + 1) % 5])]);
    const Outcome outcome = outcomeAt(updates.a1, "agent-1");
    for (Device* device : updates.holders) ASSERT_EQ(outcomeAt(*device, "agent-1"), outcome) << device->name();
  } while (std::next_permutation(order.begin() + 1, order.end()));
}

}  // namespace
}  // namespace witan::replication::test::theorem1_test
