// Whom to ask for a way, and when.
#include "node/relay/relay_search.h"

#include <gtest/gtest.h>

namespace witan::node::relay_search_test {
namespace {

struct SearchTest : ::testing::Test {
  std::string ask(std::int64_t nowMs) {
    const auto next = search.next(nowMs);
    last = next.value_or(RelaySearch::Ask{});
    return last.relay;
  }
  void failed(std::int64_t nowMs) { search.failed(last, nowMs); }

  RelaySearch search{"a", 7};
  RelaySearch::Ask last;
};

TEST_F(SearchTest, OneRelayAfterTheOtherAndThenAPauseThatGrows) {
  for (const char* relay : {"b", "c", "d"}) search.relayCame(relay, 0);
  search.want("z", 0);
  std::int64_t now = 0, pause = 0;
  for (std::int64_t round = 0; round < 10; ++round) {
    std::set<std::string> asked;
    for (int i = 0; i < 3; ++i) {
      asked.insert(ask(now));
      EXPECT_EQ(search.next(now), std::nullopt) << "one at a time";
      failed(now);
    }
    EXPECT_EQ(asked, (std::set<std::string>{"b", "c", "d"}));
    EXPECT_EQ(ask(now), "");
    pause = *search.nextMs() - now;
    const std::int64_t whole = std::min(RelaySearch::kLongestPauseMs, RelaySearch::kFirstPauseMs << round);
    EXPECT_GE(pause, whole / 2);
    EXPECT_LE(pause, whole);
    now = *search.nextMs();
  }
}

TEST_F(SearchTest, BothEndsBeginWithTheSameRelayAndPairsSpread) {
  std::set<std::string> firsts;
  for (int i = 0; i < 20; ++i) {
    const std::string other = "device " + std::to_string(i);
    RelaySearch here("a", 1), there(other, 2);
    for (const char* relay : {"b", "c", "d"}) here.relayCame(relay, 0), there.relayCame(relay, 0);
    here.want(other, 0), there.want("a", 0);
    const auto mine = here.next(0), theirs = there.next(0);
    EXPECT_EQ(mine->relay, theirs->relay);
    firsts.insert(mine->relay);
  }
  EXPECT_EQ(firsts.size(), 3u);
}

TEST_F(SearchTest, ARelayThatIsNewIsAskedAtOnce) {
  search.relayCame("b", 0);
  search.want("z", 0);
  ASSERT_EQ(ask(0), "b");
  failed(0);
  ASSERT_EQ(ask(0), "");
  search.relayCame("c", 1);
  EXPECT_EQ(ask(1), "c");
  failed(1);
  search.relayWent("b");
  search.relayCame("b", 2);
  EXPECT_EQ(ask(2), "b");
}

TEST_F(SearchTest, ARelayThatLeavesIsNotWaitedFor) {
  search.relayCame("b", 0), search.relayCame("c", 0);
  search.want("z", 0);
  const std::string first = ask(0);
  search.relayWent(first);
  EXPECT_EQ(ask(0), first == "b" ? "c" : "b");
}

TEST_F(SearchTest, NobodyIsAskedForItselfAndNobodyAtAllIsNoWork) {
  search.want("z", 0);
  EXPECT_EQ(ask(0), "");
  EXPECT_EQ(search.nextMs(), std::nullopt);
  search.relayCame("z", 0);
  EXPECT_EQ(ask(0), "");
  EXPECT_EQ(search.nextMs(), std::nullopt);
  search.relayCame("b", 0);
  EXPECT_EQ(ask(0), "b");
  search.leave("z");
  failed(0);
  EXPECT_EQ(ask(0), "");
}

TEST_F(SearchTest, SoFewAsksInAWhileThatNobodyRefusesThem) {
  search.relayCame("b", 0);
  for (int i = 0; i < 200; ++i) search.want("z" + std::to_string(i), 0);
  std::size_t asked = 0;
  while (ask(0) == "b") ++asked;
  EXPECT_EQ(asked, RelaySearch::kMostAsks);
  EXPECT_EQ(search.nextMs(), RelaySearch::kAskWindowMs);
  EXPECT_EQ(ask(RelaySearch::kAskWindowMs), "b");
}

TEST_F(SearchTest, AWhileToWaitBeforeItBegins) {
  search.relayCame("b", 0);
  search.want("z", 100, 1'000);
  EXPECT_EQ(ask(1'099), "");
  EXPECT_EQ(search.nextMs(), 1'100);
  EXPECT_EQ(ask(1'100), "b");
}

TEST(RelaySearchOrder, TheRelayThatHasJustFailedIsAskedLast) {
  RelaySearch search("a", 1);
  for (const char* relay : {"r1", "r2", "r3"}) search.relayCame(relay, 0);
  search.want("z", 0);
  const std::string first = search.next(0)->relay;
  search.leave("z");
  search.want("z", 0, 0, first);
  const std::string second = search.next(0)->relay;
  EXPECT_NE(second, first);
  search.failed({second, "z"}, 0);
  EXPECT_NE(search.next(0)->relay, first);
}

// Else a link that has lost its relay queues behind every device that is off.
TEST(RelaySearchOrder, WhoWasRefusedLeastIsNext) {
  RelaySearch search("a", 1);
  for (const char* relay : {"r1", "r2", "r3"}) search.relayCame(relay, 0);
  for (const char* off : {"x", "y"}) search.want(off, 0);
  for (int i = 0; i < 4; ++i) search.failed(*search.next(0), 0, true);
  search.want("z", 5);
  EXPECT_EQ(search.next(5)->device, "z");
}

TEST_F(SearchTest, WhatNobodyHasALinkWithIsAskedForSeldom) {
  for (const char* relay : {"b", "c"}) search.relayCame(relay, 0);
  search.want("z", 0);
  std::int64_t now = 0;
  for (std::int64_t round = 0; round < 10; ++round) {
    while (!ask(now).empty()) search.failed(last, now, true);
    const std::int64_t whole = std::min(RelaySearch::kLongestAbsentPauseMs, RelaySearch::kFirstAbsentPauseMs << round);
    EXPECT_GE(*search.nextMs() - now, whole / 2);
    EXPECT_LE(*search.nextMs() - now, whole);
    now = *search.nextMs();
  }
  // One that has a link with it and refuses: it is there.
  ask(now), search.failed(last, now, true);
  ask(now), search.failed(last, now, false);
  EXPECT_EQ(ask(now), "");
  EXPECT_LE(*search.nextMs() - now, RelaySearch::kLongestPauseMs);
}

TEST_F(SearchTest, OneThatIsThereAfterAllIsAskedForAgainSoon) {
  search.relayCame("b", 0);
  search.want("z", 0);
  std::int64_t now = 0;
  for (int round = 0; round < 10; ++round) {
    while (!ask(now).empty()) search.failed(last, now, true);
    if (round < 9) now = *search.nextMs();
  }
  ASSERT_GT(*search.nextMs() - now, 2 * RelaySearch::kLongestPauseMs) << "nobody had a link with it";
  search.relayCame("c", now);
  ASSERT_EQ(ask(now), "c");
  search.failed(last, now, false);
  EXPECT_EQ(ask(now), "");
  EXPECT_LE(*search.nextMs() - now, RelaySearch::kLongestPauseMs);
}

TEST(RelaySearchOrder, WhoHasBeenDueLongestIsNext) {
  RelaySearch search("a", 1);
  search.relayCame("r", 0);
  search.want("y", 10);
  search.want("z", 5);
  EXPECT_EQ(search.next(10)->device, "z");
  EXPECT_EQ(search.next(10)->device, "y");
}

}  // namespace
}  // namespace witan::node::relay_search_test
