// Each transition of FollowerProgress, and the invariants that stop the process.
#include "replica/core/follower_progress.h"

#include <gtest/gtest.h>

namespace witan::node::follower_progress_test {
namespace {

const kernel::Epoch kEpoch{3, "a.1"};

FollowerProgress in(FollowerState state) {
  FollowerProgress follower;
  if (state == FollowerState::unknown) return follower;
  follower.report(true, 5, kEpoch);
  if (state == FollowerState::replicating) follower.replicate(5, 100);
  if (state == FollowerState::diverged) follower.diverge();
  return follower;
}

constexpr FollowerState kStates[] = {FollowerState::unknown, FollowerState::probing, FollowerState::replicating,
                                     FollowerState::diverged};

TEST(FollowerProgress, BeginsUnknown) {
  const FollowerProgress follower;
  EXPECT_EQ(follower.state(), FollowerState::unknown);
  EXPECT_FALSE(follower.known());
  EXPECT_EQ(follower.epoch().number, 0u);
}

TEST(FollowerProgress, AReportStopsSendingAndLeavesAForkInPlace) {
  for (const FollowerState state : kStates) {
    FollowerProgress follower = in(state);
    follower.report(false, 2, {4, "b.1"});
    EXPECT_EQ(follower.state(), state == FollowerState::diverged ? state : FollowerState::probing);
    EXPECT_EQ(follower.batches(), 2u);
    EXPECT_EQ(follower.epoch(), (kernel::Epoch{4, "b.1"}));
    EXPECT_FALSE(follower.follows());
    EXPECT_EQ(follower.acked(), 0u);
  }
}

TEST(FollowerProgress, AgreementEndsAFork) {
  for (const FollowerState state : {FollowerState::probing, FollowerState::diverged}) {
    FollowerProgress follower = in(state);
    follower.agree();
    EXPECT_EQ(follower.state(), FollowerState::probing);
  }
}

TEST(FollowerProgress, ReplicatesFromTheEndOfTheFollowersLog) {
  FollowerProgress follower = in(FollowerState::probing);
  follower.replicate(5, 100);
  EXPECT_EQ(follower.state(), FollowerState::replicating);
  EXPECT_EQ(follower.next(), 5u);
  EXPECT_EQ(follower.acked(), 5u);
  FollowerProgress forked = in(FollowerState::diverged);
  forked.replicate(5, 100);
  EXPECT_EQ(forked.state(), FollowerState::diverged);
  EXPECT_EQ(forked.next(), 0u);
}

TEST(FollowerProgress, DivergesFromEveryStateAndReportsItOnce) {
  for (const FollowerState state : kStates) {
    FollowerProgress follower = in(state);
    EXPECT_EQ(follower.diverge(), state != FollowerState::diverged);
    EXPECT_EQ(follower.state(), FollowerState::diverged);
    EXPECT_FALSE(follower.diverge());
  }
}

TEST(FollowerProgress, APauseStopsSendingOnly) {
  for (const FollowerState state : kStates) {
    FollowerProgress follower = in(state);
    follower.pause();
    EXPECT_EQ(follower.state(), state == FollowerState::replicating ? FollowerState::probing : state);
    EXPECT_EQ(follower.batches(), state == FollowerState::unknown ? 0u : 5u);
  }
}

TEST(FollowerProgress, CountsWhatIsInFlight) {
  FollowerProgress follower = in(FollowerState::replicating);
  follower.sent(), follower.sent();
  EXPECT_EQ(follower.inFlight(), 2u);
  follower.acknowledge(6, 110);
  EXPECT_EQ(follower.inFlight(), 1u);
  EXPECT_EQ(follower.batches(), 6u);
  follower.acknowledge(4, 120);  // an old one
  EXPECT_EQ(follower.acked(), 6u);
  follower.acknowledge(9, 130);  // it has more from another device
  EXPECT_EQ(follower.acked(), 9u);
  EXPECT_EQ(follower.next(), 9u);
}

TEST(FollowerProgress, ABatchOfThePeersOwnIsNotSentBack) {
  FollowerProgress follower = in(FollowerState::replicating);
  follower.onBatchFrom(7);
  EXPECT_EQ(follower.next(), 7u);
  EXPECT_EQ(follower.acked(), 7u);
  FollowerProgress idle = in(FollowerState::probing);
  idle.onBatchFrom(7), idle.acknowledge(8, 100);
  EXPECT_EQ(idle.batches(), 8u);
  EXPECT_EQ(idle.next(), 0u);
}

TEST(FollowerProgress, ResendsOnceAfterTheTimeout) {
  FollowerProgress follower = in(FollowerState::replicating);
  EXPECT_FALSE(follower.resendIfStalled(900, 500));  // nothing in flight: the clock starts here
  follower.sent();
  EXPECT_FALSE(follower.resendIfStalled(1400, 500));
  EXPECT_TRUE(follower.resendIfStalled(1401, 500));
  EXPECT_EQ(follower.next(), 5u);
  EXPECT_FALSE(follower.resendIfStalled(1402, 500));
}

TEST(FollowerProgressDeathTest, EventsOutOfOrderStop) {
  EXPECT_DEATH(in(FollowerState::unknown).agree(), "permits the event");
  EXPECT_DEATH(in(FollowerState::replicating).agree(), "permits the event");
  EXPECT_DEATH(in(FollowerState::unknown).replicate(0, 0), "permits the event");
  EXPECT_DEATH(in(FollowerState::replicating).replicate(5, 0), "permits the event");
}

TEST(FollowerProgressDeathTest, OnlyAReplicatingFollowerIsSentEntries) {
  for (const FollowerState state : {FollowerState::unknown, FollowerState::probing, FollowerState::diverged}) {
    EXPECT_DEATH(in(state).sent(), "replicating follower");
    EXPECT_DEATH(in(state).resendIfStalled(0, 0), "replicating follower");
  }
}

TEST(FollowerProgressDeathTest, EntriesContinueTheFollowersLog) {
  EXPECT_DEATH(in(FollowerState::probing).replicate(4, 0), "continue the follower's log");
  EXPECT_DEATH(in(FollowerState::probing).replicate(6, 0), "continue the follower's log");
}

TEST(FollowerProgressDeathTest, NothingIsSentToAPeerThatDidNotAsk) {
  FollowerProgress follower;
  follower.report(false, 5, kEpoch);
  EXPECT_DEATH(follower.replicate(5, 0), "asked for entries");
}

}  // namespace
}  // namespace witan::node::follower_progress_test
