// Wake runs: how far a run has come is a lattice.
#include "replication/records/record_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/replication/record_history.h"

namespace witan::replication::wake_run_test {
namespace {

const RunKey kRun = *userRunKey("agent-1", "session-1", "turn-1");

WakeRunBody bodyWith(WakeStatus status) {
  return {kRun.value, "agent-1", WakeReason::user, "session-1", status, 5, isTerminal(status) ? 9 : 0, ""};
}

WakeStatus someStatus() { return static_cast<WakeStatus>(test::uniform(0, 5)); }

std::vector<Version> someHistory() {
  return test::generatedHistory(8, [](const std::vector<Version>& seen) {
    WakeRunBody next = bodyWith(someStatus());
    const WakeRunView view = wakeRunViewOf(kRun, seen);
    if (!mayRecord(view, next).ok()) next = view.run->body;
    return *encodeRecord(next);
  });
}

RC_GTEST_PROP(WakeRun, ViewIndependentOfPermutation, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    RC_ASSERT(wakeRunViewOf(kRun, test::shuffled(all)) == wakeRunViewOf(kRun, all));
  });
}

// "terminal beats started; completed > failed_terminal > skipped_destroyed > skipped_sleeping".
RC_GTEST_PROP(WakeRun, TheHighestStatusStands, ()) {
  test::onManyHistories([] {
    const auto all = someHistory();
    WakeStatus highest = WakeStatus::started;
    for (const Version& v : all) highest = join(highest, decodeRecord<WakeRunBody>(v.body)->status);
    RC_ASSERT(wakeRunViewOf(kRun, all).run->body.status == highest);
    // The replaced ones add nothing: what is held says the same.
    std::vector<Version> held;
    for (const Version* v : maximalVersions(all)) held.push_back(*v);
    RC_ASSERT(wakeRunViewOf(kRun, held).run->body.status == highest);
  });
}

TEST(WakeRun, StatusOrder) {
  const std::vector<WakeStatus> rising{WakeStatus::started, WakeStatus::skippedSleeping, WakeStatus::skippedDestroyed,
                                       WakeStatus::failedTerminal, WakeStatus::completed};
  for (std::size_t i = 0; i < rising.size(); ++i) {
    EXPECT_EQ(isTerminal(rising[i]), i > 0);
    for (std::size_t j = 0; j < rising.size(); ++j) EXPECT_EQ(join(rising[i], rising[j]), rising[std::max(i, j)]);
  }
}

RC_GTEST_PROP(WakeRun, JoinIsAssociativeCommutativeAndIdempotent, ()) {
  test::onManyHistories([] {
    const auto some = [] {
      return WakeRunVersion{{std::string(1, test::uniform('A', 'D')), test::uniform<std::uint64_t>(1, 4)},
                            bodyWith(someStatus())};
    };
    WakeRunVersion a = some(), b = some(), c = some();
    // One dot, one content.
    if (b.dot == a.dot) b = a;
    if (c.dot == a.dot) c = a;
    if (c.dot == b.dot) c = b;
    RC_ASSERT(join(join(a, b), c) == join(a, join(b, c)));
    RC_ASSERT(join(a, b) == join(b, a));
    RC_ASSERT(join(a, a) == a);
  });
}

// A version replaces what its author saw, so a run that ended must not be written over; the twin that does loses it.
TEST(WakeRun, AnEndedRunIsNotWrittenOver) {
  const Version completed{{"A", 1}, {{"A", 1}}, *encodeRecord(bodyWith(WakeStatus::completed)), false};
  const WakeRunView view = wakeRunViewOf(kRun, std::vector{completed});
  const auto status = mayRecord(view, bodyWith(WakeStatus::started));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("completed, not to become started"));
  EXPECT_TRUE(mayRecord({}, bodyWith(WakeStatus::started)).ok());

  const Version over{{"B", 1}, {{"A", 1}, {"B", 1}}, *encodeRecord(bodyWith(WakeStatus::started)), false};
  std::vector<Version> held;
  const std::vector<Version> all{completed, over};
  for (const Version* v : maximalVersions(all)) held.push_back(*v);
  EXPECT_EQ(wakeRunViewOf(kRun, held).run->body.status, WakeStatus::started);
}

// 003, section 11: "5. replay idempotency for runKey and operationId": however often and wherever a run is recorded
// again, it is one run with one end.
RC_GTEST_PROP(Obligation5, ReplayingARunGivesTheSameRun, ()) {
  test::onManyHistories([] {
    auto all = someHistory();
    const auto before = wakeRunViewOf(kRun, all);
    all.push_back({{"replay", 1}, {{"replay", 1}}, *encodeRecord(before.run->body), false});
    const auto after = wakeRunViewOf(kRun, all);
    RC_ASSERT(after.run->body == before.run->body);
    RC_ASSERT(after.attempts == before.attempts + 1);
  });
}

TEST(WakeRun, AnotherRunIsUnreadableHere) {
  WakeRunBody other = bodyWith(WakeStatus::completed);
  other.runKey = userRunKey("agent-1", "session-1", "turn-2")->value;
  const auto view = wakeRunViewOf(kRun, std::vector<Version>{{{"A", 1}, {}, *encodeRecord(other), false}});
  EXPECT_FALSE(view.run.has_value());
  EXPECT_EQ(view.unreadable.size(), 1u);
  EXPECT_FALSE(
      mayRecord(wakeRunViewOf(kRun, std::vector<Version>{{{"A", 1}, {}, *encodeRecord(bodyWith({})), false}}), other)
          .ok());
}

}  // namespace
}  // namespace witan::replication::wake_run_test
