// The view of an agent: theorem 1 of seed 003 as it has to be read (docs/FINDINGS.md, F1), on generated histories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "replication/records/agent_state_json.h"
#include "tests/replication/agent_histories.h"
#include "tests/replication/agent_pairwise.h"

namespace witan::replication::agent_view_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr std::size_t kScript = 120;

AgentView viewOfAll(const std::vector<AgentSnapshot>& snapshots, const MessageAncestry* ancestry = nullptr) {
  return viewOf(maximalOf(snapshots), ancestry);
}

AgentSnapshot snapshotAt(const std::string& host, std::uint64_t counter, VectorClock vc = {}) {
  AgentSnapshot s;
  s.agentId = "agent-1";
  s.dot = {host, counter};
  s.vc = std::move(vc);
  s.vc.set(host, counter);
  return s;
}

std::string permutationMatters(const History& history, std::mt19937_64& random) {
  if (history.snapshots.empty()) return "";
  const auto antichain = maximal(toVersions(history.snapshots)).value();
  const AgentView view = viewOfAll(history.snapshots, &history.messages);
  auto shuffled = history.snapshots;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  if (maximal(toVersions(shuffled)).value() != antichain) return "another antichain";
  auto mixed = toSnapshots(antichain);
  std::shuffle(mixed.begin(), mixed.end(), random);
  if (viewOf(mixed, &history.messages) != view) return "another view";
  return toJson(viewRow("agent-1", viewOfAll(shuffled))) == toJson(viewRow("agent-1", viewOfAll(history.snapshots)))
             ? ""
             : "another view without messages";
}

// Every replica sees the maximal elements of parts first, as files or as sessions.
std::string groupingMatters(const History& history, std::mt19937_64& random) {
  std::vector<std::vector<AgentSnapshot>> groups(3);
  for (const AgentSnapshot& s : history.snapshots) groups[random() % 3].push_back(s);
  std::vector<AgentSnapshot> gathered;
  for (const auto& group : groups)
    for (const AgentSnapshot& s : maximalOf(group)) gathered.push_back(s);
  return maximalOf(gathered) == maximalOf(history.snapshots) ? "" : "another antichain";
}

std::string repetitionMatters(const History& history, std::mt19937_64& random) {
  if (history.snapshots.empty()) return "";
  auto twice = history.snapshots;
  for (const AgentSnapshot& s : history.snapshots)
    if (random() % 2 == 0) twice.push_back(s);
  if (maximalOf(twice) != maximalOf(history.snapshots)) return "a repeated snapshot counts";
  if (maximalOf(maximalOf(twice)) != maximalOf(twice)) return "the antichain has an antichain of its own";
  const AgentView view = viewOfAll(twice, &history.messages);
  const std::vector<AgentSnapshot> seen = {{"agent-1", {"Z", 1}, view.vc, view.state}};
  return viewOf(seen, &history.messages) == view ? "" : "the view of the view differs";
}

std::string pairDiffersFromSeed(const History& history, std::mt19937_64& random) {
  const std::vector<Version> versions = toVersions(history.snapshots);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    for (std::size_t j = 0; j < versions.size(); ++j) {
      const MessageAncestry* ancestry = random() % 2 == 0 ? nullptr : &history.messages;
      const AgentSnapshot &a = history.snapshots[i], &b = history.snapshots[j];
      const auto view = viewOf(maximal({versions[i], versions[j]}).value(), ancestry).value();
      if (view != seedMerge(shown(a), shown(b), ancestry))
        return toJson(snapshotRow(a)) + " and " + toJson(snapshotRow(b));
    }
  }
  return "";
}

// The definition, without any cleverness.
std::vector<AgentSnapshot> maximalByDefinition(const std::vector<AgentSnapshot>& snapshots) {
  std::map<Dot, AgentSnapshot> found;
  for (const AgentSnapshot& s : snapshots) {
    const bool dominated =
        std::any_of(snapshots.begin(), snapshots.end(), [&](const AgentSnapshot& t) { return lt(s.vc, t.vc); });
    if (!dominated) found.emplace(s.dot, s);
  }
  std::vector<AgentSnapshot> out;
  for (const auto& [dot, s] : found) out.push_back(s);
  return out;
}

std::string antichainTooLarge(const History& history, std::mt19937_64&) {
  const auto antichain = maximalOf(history.snapshots);
  if (antichain != maximalByDefinition(history.snapshots)) return "not the maximal elements";
  std::set<std::string> writers;
  for (const AgentSnapshot& s : antichain) {
    writers.insert(s.dot.host);
    for (const AgentSnapshot& t : antichain)
      if (s.dot != t.dot && !concurrent(s.vc, t.vc)) return "two that are not concurrent";
  }
  return antichain.size() <= writers.size() ? "" : "two of one writer";
}

// Replicas that take snapshots one by one, in orders of their own, and keep the maximal ones.
std::string replicasDiffer(const History& history, std::mt19937_64& random) {
  if (history.snapshots.empty()) return "";
  std::vector<std::string> views;
  for (int replica = 0; replica < 3; ++replica) {
    auto order = history.snapshots;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<AgentSnapshot> held;
    for (const AgentSnapshot& s : order) {
      held.push_back(s);
      held = maximalOf(held);
    }
    views.push_back(toJson(viewRow("agent-1", viewOf(held, &history.messages))));
  }
  return views[0] == views[1] && views[1] == views[2] ? "" : views[0] + " and " + views[1] + " and " + views[2];
}

template <class Property>
void holdsFor(const std::vector<std::uint8_t>& script, std::uint64_t seed, Property property) {
  std::mt19937_64 random(seed);
  RC_ASSERT(property(makeHistory(script), random) == std::string());
}

// Theorem 1 (003, section 5), small and shrinking; the tests after these run the same on many histories.
RC_GTEST_PROP(AgentView, ViewIndependentOfPermutation, (const std::vector<std::uint8_t>& script, std::uint64_t seed)) {
  holdsFor(script, seed, permutationMatters);
}
RC_GTEST_PROP(AgentView, ViewIndependentOfGrouping, (const std::vector<std::uint8_t>& script, std::uint64_t seed)) {
  holdsFor(script, seed, groupingMatters);
}
RC_GTEST_PROP(AgentView, ViewIsIdempotent, (const std::vector<std::uint8_t>& script, std::uint64_t seed)) {
  holdsFor(script, seed, repetitionMatters);
}
RC_GTEST_PROP(AgentView, AgreesWithTheSeedsPairwiseRule,
              (const std::vector<std::uint8_t>& script, std::uint64_t seed)) {
  holdsFor(script, seed, pairDiffersFromSeed);
}

TEST(AgentViewHistories, ViewIndependentOfPermutation) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, permutationMatters), "");
}
TEST(AgentViewHistories, ViewIndependentOfGrouping) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, groupingMatters), "");
}
TEST(AgentViewHistories, ViewIsIdempotent) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, repetitionMatters), "");
}
// Section 4.2 for every concurrent pair, section 4.1 for every other.
TEST(AgentViewHistories, AgreesWithTheSeedsPairwiseRule) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, pairDiffersFromSeed), "");
}
TEST(AgentViewHistories, AntichainHasAtMostOneSnapshotOfEachConcurrentWriter) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, antichainTooLarge), "");
}
// Theorem 1: "all synced updates are eventually delivered ... then all replicas converge to the same AgentState".
TEST(AgentViewHistories, Theorem1ReplicasThatGotAllSnapshotsShowEqualViews) {
  EXPECT_EQ(firstFailure(historiesToRun(), kScript, replicasDiffer), "");
}

// The twin of theorem 1: the seed's own fold diverges under equal clocks, and random histories show it.
TEST(AgentViewHistories, TheSeedsFoldDivergesOnSomeHistories) {
  std::uint64_t diverged = 0, antichains = 0;
  firstFailure(2'000, kScript, [&](const History& history, std::mt19937_64& random) -> std::string {
    auto order = history.snapshots;
    if (order.empty()) return "";
    const AgentView first = seedFold(order);
    std::shuffle(order.begin(), order.end(), random);
    const AgentView second = seedFold(order);
    if (second != first && second.vc == first.vc) ++diverged;
    if (maximalOf(order).size() > 1) ++antichains;
    return "";
  });
  EXPECT_GT(diverged, 20u);
  EXPECT_GT(antichains, 500u);  // the generator makes what the tests above are about
}

struct Counterexample {
  AgentSnapshot s1 = snapshotAt("A", 1), s2 = snapshotAt("A", 2), s3 = snapshotAt("B", 1);

  // Two orders of arrival that end under equal clocks with the seed's fold, and what both should show.
  void expectOnlyTheFoldDiverges() const {
    const AgentView left = seedFold({s1, s2, s3}), right = seedFold({s1, s3, s2});
    EXPECT_EQ(left.vc, right.vc);
    EXPECT_NE(left.state, right.state);
    const AgentView view = viewOfAll({s1, s2, s3});
    EXPECT_EQ(view, viewOfAll({s3, s1, s2}));
    EXPECT_EQ(view, viewOfAll({s2, s3, s1}));
    EXPECT_EQ(view, seedMerge(shown(s2), shown(s3), nullptr));
  }
};

// F1, the finding's own: A woke the agent up again, and B's old news put it back to sleep.
TEST(F1, CounterexampleOfADormantAgentThatWokeUp) {
  Counterexample c;
  c.s1.state.lifecycle = Lifecycle::dormant;
  c.s1.state.consecutiveFailureCount = 3;
  c.s1.state.schedule = {9, 5, 0};
  c.s2.state.lifecycle = Lifecycle::active;
  c.s2.state.schedule = {0, 10, 0};
  c.s3.state.lifecycle = Lifecycle::active;
  c.s3.state.schedule = {0, 20, 0};
  c.expectOnlyTheFoldDiverges();
  EXPECT_EQ(viewOfAll({c.s1, c.s2, c.s3}).state.lifecycle, Lifecycle::active);
  EXPECT_EQ(viewOfAll({c.s1, c.s2, c.s3}).state.schedule, (Schedule{0, 10, 0}));
}

// Of each timer what fired last anywhere, and the setting of the highest version; of modes the more careful one.
TEST(AgentView, TimersAndModesOfConcurrentVersions) {
  AgentSnapshot a = snapshotAt("a", 1), b = snapshotAt("b", 1), c = snapshotAt("c", 1);
  a.state.schedule.timers = {{"daily", {500, 10, 2, "a"}}, {"own", {7, 0, 0, ""}}};
  b.state.schedule.timers = {{"daily", {300, 0, 3, "b"}}};
  b.state.mode = AgentMode::interactive;
  c.state.schedule.timers = {{"daily", {400, 30, 3, "c"}}};
  for (const auto& order : {std::vector{a, b, c}, std::vector{c, b, a}, std::vector{b, a, c}}) {
    const AgentView view = viewOfAll(order);
    EXPECT_EQ(view.state.mode, AgentMode::interactive);
    EXPECT_EQ(view.state.schedule.timers.at("daily"), (TimerState{500, 30, 3, "c"}));
    EXPECT_EQ(view.state.schedule.timers.at("own"), (TimerState{7, 0, 0, ""}));
    AgentSnapshot shown = a;
    shown.state = view.state;
    EXPECT_EQ(readSnapshot(toJson(snapshotRow(shown))).value(), shown);
    EXPECT_EQ(toSnapshot("agent-1", toVersion(shown)).value(), shown);
  }
}

// F1, the smallest: three events of two writers and one counter that was reset.
TEST(F1, CounterexampleOfAFailureCounterThatWasReset) {
  Counterexample c;
  c.s1.state.consecutiveFailureCount = 5;
  c.s2.state.consecutiveFailureCount = 0;
  c.s3.state.consecutiveFailureCount = 2;
  c.expectOnlyTheFoldDiverges();
  EXPECT_EQ(seedFold({c.s1, c.s3, c.s2}).state.consecutiveFailureCount, 5u);
  EXPECT_EQ(viewOfAll({c.s1, c.s3, c.s2}).state.consecutiveFailureCount, 2u);
}

// F1 without any maximum: a wake that was cancelled and a head that was taken back return from the dead.
TEST(F1, CounterexampleOfACancelledWakeAndAPointerThatWentBack) {
  Counterexample c;
  c.s1.state.schedule.nextWakeAt = 5;
  c.s1.state.pointers.recentHeadMessageId = "m9";
  c.s2.state.pointers.recentHeadMessageId = "m1";
  c.s3.state.schedule.nextWakeAt = 20;
  c.s3.state.pointers.recentHeadMessageId = "m5";
  c.expectOnlyTheFoldDiverges();
  EXPECT_EQ(seedFold({c.s1, c.s3, c.s2}).state.pointers.recentHeadMessageId, "m9");
  const AgentView view = viewOfAll({c.s1, c.s3, c.s2});
  EXPECT_EQ(view.state.pointers.recentHeadMessageId, "m5");
  EXPECT_EQ(view.state.schedule.nextWakeAt, 20u);
}

// Seed 003, section 11, obligation 4: "per-slot version merge determinism under concurrent updates". Writers that know
// nothing of each other write slots any number of times; each slot shows its highest version, ties by host.
RC_GTEST_PROP(AgentView, Obligation4PerSlotVersionMergeIsDeterministic,
              (const std::vector<std::uint8_t>& writes, std::uint64_t seed)) {
  std::map<std::string, AgentSnapshot> writers;
  for (const std::uint8_t write : writes) {
    const std::string host(1, static_cast<char>('A' + write % 6));
    AgentSnapshot& s = writers.emplace(host, snapshotAt(host, 1)).first->second;
    Slot& slot = s.state.slots[write / 6 % kSlots];
    slot = {"\"" + host + std::to_string(slot.version + 1) + "\"", slot.version + 1, host};
  }
  RC_PRE(!writers.empty());
  std::vector<AgentSnapshot> snapshots;
  for (const auto& [host, s] : writers) snapshots.push_back(s);
  std::mt19937_64 random(seed);
  std::shuffle(snapshots.begin(), snapshots.end(), random);
  const AgentView view = viewOfAll(snapshots);
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot best = AgentState().slots[i];
    for (const auto& [host, s] : writers)  // by host: a later one wins a tie
      if (s.state.slots[i].version >= best.version && s.state.slots[i].version > 0) best = s.state.slots[i];
    RC_ASSERT(view.state.slots[i] == best);
  }
}

// Equal version and host with different values: no honest writer, but still one answer.
TEST(AgentView, SlotsOfALiarAreChosenByValue) {
  AgentSnapshot a = snapshotAt("A", 1), b = snapshotAt("B", 1);
  a.state.slot(SlotName::primaryGoal) = {"\"x\"", 4, "C"};
  b.state.slot(SlotName::primaryGoal) = {"\"y\"", 4, "C"};
  EXPECT_EQ(viewOfAll({a, b}), viewOfAll({b, a}));
  EXPECT_EQ(viewOfAll({a, b}).state.slot(SlotName::primaryGoal).value, "\"y\"");
}

// F2: the wake that has fired on one device is not shown because another still waits for it.
TEST(AgentView, AWakeThatFiredElsewhereIsNotDue) {
  AgentSnapshot waits = snapshotAt("A", 1), fired = snapshotAt("B", 1);
  waits.state.schedule.nextWakeAt = 10;
  fired.state.schedule.firedThrough = 10;
  EXPECT_EQ(viewOfAll({waits, fired}).state.schedule, (Schedule{0, std::nullopt, 10}));
  fired.state.schedule.nextWakeAt = 30;
  EXPECT_EQ(viewOfAll({waits, fired}).state.schedule, (Schedule{0, 30, 10}));
}

struct Heads {
  std::vector<AgentSnapshot> snapshots;
  Messages messages;

  void at(const std::string& host, const std::string& id) {
    snapshots.push_back(snapshotAt(host, 1));
    snapshots.back().state.pointers.recentHeadMessageId = id;
  }
  std::optional<std::string> shown() const { return viewOf(snapshots, &messages).state.pointers.recentHeadMessageId; }
};

TEST(AgentViewPointers, TheDescendantWinsOverALargerCounter) {
  Heads heads;
  heads.messages.add("root", {100, "C"}, {}, true);
  heads.messages.add("reply", {3, "A"}, {"root"}, true);
  heads.messages.add("aside", {2, "B"}, {}, true);
  heads.at("A", "reply");
  heads.at("C", "root");
  EXPECT_EQ(heads.shown(), "reply");
  // Nor does an ancestor win when there are two ends.
  heads.at("B", "aside");
  EXPECT_EQ(heads.shown(), "reply");
}

TEST(AgentViewPointers, ConcurrentMessagesByCounterThenHostThenId) {
  Heads heads;
  heads.messages.add("z", {3, "A"}, {}, true);
  heads.messages.add("a", {4, "A"}, {}, true);
  heads.at("A", "z");
  heads.at("B", "a");
  EXPECT_EQ(heads.shown(), "a");
  heads.messages.add("b", {4, "B"}, {}, true);
  heads.at("C", "b");
  EXPECT_EQ(heads.shown(), "b");
  heads.messages.add("c", {4, "B"}, {}, true);
  heads.at("D", "c");
  EXPECT_EQ(heads.shown(), "c");
}

TEST(AgentViewPointers, AMessageThatArrivesChangesTheAnswer) {
  Heads heads;
  heads.at("A", "aaa");
  heads.at("B", "zzz");
  EXPECT_EQ(heads.shown(), "zzz");
  heads.messages.add("aaa", {1, "A"}, {}, true);
  EXPECT_EQ(heads.shown(), "aaa");
  heads.messages.add("zzz", {1, "B"}, {}, true);
  EXPECT_EQ(heads.shown(), "zzz");
}

TEST(AgentViewPointers, ACycleOfMessagesStillGivesOneAnswer) {
  Heads heads;
  heads.messages.add("p", {1, "A"}, {"q"}, true);
  heads.messages.add("q", {2, "A"}, {"p"}, true);
  heads.messages.add("p", {1, "A"}, {"q"}, true);
  heads.at("A", "p");
  heads.at("B", "q");
  EXPECT_EQ(heads.shown(), "q");
}

TEST(Maximal, OneDotWithTwoContentsIsNamedWhateverTheOrder) {
  AgentSnapshot a = snapshotAt("A", 1), b = snapshotAt("A", 1), c = snapshotAt("B", 7), d = snapshotAt("B", 7);
  b.state.consecutiveFailureCount = 1;
  d.vc.set("C", 1);
  std::vector<Version> versions = toVersions({a, b, c, d, snapshotAt("A", 2)});
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) {
    const auto merged = maximal(versions);
    ASSERT_FALSE(merged.ok());
    EXPECT_EQ(merged.error().code, ErrorCode::conflict);
    EXPECT_THAT(merged.error().message, HasSubstr("dot A:1"));
    std::shuffle(versions.begin(), versions.end(), random);
  }
}

// Clocks that no honest writers make, for example of a writer that forgot: still the maximal elements of 003, 1.2.
RC_GTEST_PROP(Maximal, AnyClocksFollowTheDefinition, (const std::vector<std::uint8_t>& script)) {
  Choices choose(script);
  std::map<Dot, AgentSnapshot> snapshots;
  while (choose.more()) {
    AgentSnapshot s = snapshotAt(std::string(1, static_cast<char>('A' + choose.below(3))), 1 + choose.below(3));
    for (const char* host : {"A", "B", "C"})
      if (host != s.dot.host) s.vc.set(host, choose.below(4));
    snapshots.emplace(s.dot, s);
  }
  std::vector<AgentSnapshot> all;
  for (const auto& [dot, s] : snapshots) all.push_back(s);
  RC_ASSERT(maximalOf(all) == maximalByDefinition(all));
}

TEST(Maximal, ManyWritersThatNeverMetStayLinear) {
  std::vector<Version> versions;
  for (int i = 0; i < 20'000; ++i) versions.push_back(toVersion(snapshotAt("w" + std::to_string(i), 1)));
  const auto antichain = maximal(versions);
  ASSERT_TRUE(antichain.ok());
  EXPECT_EQ(antichain->size(), 20'000u);
  EXPECT_EQ((*viewOf(*antichain, nullptr))->vc.entries().size(), 20'000u);
}

TEST(AgentView, OfVersionsIsTheViewOfTheirSnapshots) {
  EXPECT_EQ(firstFailure(300, kScript,
                         [](const History& history, std::mt19937_64&) -> std::string {
                           if (history.snapshots.empty()) return "";
                           const auto antichain = maximal(toVersions(history.snapshots)).value();
                           const auto view = viewOf(antichain, &history.messages);
                           return view.value() == viewOf(toSnapshots(antichain), &history.messages) ? "" : "differs";
                         }),
            "");
}

TEST(AgentView, ATombstoneCountsWithItsContextOnly) {
  const Version gone{{"B", 4}, {{"B", 4}}, "", true};
  EXPECT_EQ(viewOf(std::vector{gone}, nullptr).value(), std::nullopt);
  const auto view = viewOf(std::vector{gone, toVersion(snapshotAt("A", 1))}, nullptr).value();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->vc, (VectorClock{{"A", 1}, {"B", 4}}));
}

TEST(AgentView, ABodyThatIsNoneIsAnError) {
  EXPECT_FALSE(viewOf(std::vector{Version{{"B", 4}, {{"B", 4}}, "\x7f", false}}, nullptr).ok());
}

}  // namespace
}  // namespace witan::replication::agent_view_test
