// Copies that prune what others keep: who may, when, and how a copy gets back what it pruned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/ledger/ledger_verify.h"
#include "kernel/ledger/pruned_log.h"
#include "replica/head_exchange.h"
#include "store/prefix_store.h"
#include "tests/replica/pruning_cluster.h"

namespace witan::node::test::pruning_test {
namespace {

class Pruning : public PrunedCluster {};

TEST_F(Pruning, AllButTheOwnerAndThoseThatKeepEveryEntryDo) {
  spendSome(20);
  pass();
  EXPECT_EQ(pruned(), without("abcde", wholeOnes() + owner()));
  expectOneLog();
  const PartitionHost& host = device(pruner()).host();
  EXPECT_GE(host.entries() - (host.firstEntry() - 1), kKept);
  EXPECT_LT(host.entries() - (host.firstEntry() - 1), kKept + 4 + 2);
  EXPECT_GT(device(pruner()).replica().counters().copiesPruned, 0u);
  EXPECT_TRUE(device(pruner()).noticed("pruned"));
  spendSome(20);
  pass();
  expectOneLog();
  for (const char name : pruned()) cluster.losePower(device(name));
  EXPECT_EQ(pruned(), without("abcde", wholeOnes() + owner()));
  connectAll("abcde");
  cluster.run();
  spendSome(3);
  expectOneLog();
}

TEST_F(Pruning, NothingGoesWithoutARetentionOrBeforeEnoughMayGo) {
  spendSome(3);
  pass();
  EXPECT_EQ(pruned(), "");
  keeps = false;
  roster("abcde");
  spendSome(20);
  pass();
  EXPECT_EQ(pruned(), "");
}

TEST_F(Pruning, NothingGoesThatOneOfThemLacks) {
  const char away = keeper();
  cutOff(away);
  spendSome(20);
  pass();
  EXPECT_EQ(pruned(), "");
  join(away);
  pass();
  EXPECT_EQ(pruned(), without("abcde", wholeOnes() + owner()));
  expectOneLog();
}

// By the roster that it has heard of it may prune itself.
TEST_F(Pruning, NothingGoesWhileOneOfThemHasAnOlderRoster) {
  const char late = keeper();
  ++version;
  for (const char name : without("abcde", std::string(1, late))) device(name).replica().rosterChanged();
  cluster.run();
  spendSome(20);
  pass();
  EXPECT_EQ(pruned(), "");
  device(late).replica().rosterChanged();
  pass();
  EXPECT_EQ(pruned(), without("abcde", wholeOnes() + owner()));
}

TEST_F(Pruning, ANewCopyComesFromOneThatHasEverything) {
  spendSome(20);
  pass();
  // The owner hands over to one that has pruned, and that one has no time to fetch.
  const char next = pruner();
  cluster.lose = isPast;
  ASSERT_TRUE(
      device(owner()).replica().transferOwnership(kPartition, std::string(1, next), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), next);
  ASSERT_GT(device(next).host().first(), 0u);
  const char lost = without("abcde", wholeOnes() + next).back();
  cutOff(lost);
  for (store::MemoryStore& disk : device(lost).stores) disk.wipe();
  cluster.losePower(device(lost));
  join(lost);
  spendSome(2);
  pass();
  EXPECT_EQ(device(lost).host().durableBatches(), device(next).host().durableBatches());
  expectOneLog();
  cluster.lose = {};
  pass();
  EXPECT_EQ(device(next).host().first(), 0u);
  EXPECT_TRUE(device(next).noticed("wholeAgain"));
  expectOneLog();
}

TEST_F(Pruning, AnOwnerAnswersAboutOldEntriesOnceItHasThemAgain) {
  spendSome(20);
  pass();
  const char next = pruner();
  bool past = true;
  cluster.lose = [&](const TestCluster::Frame& frame) { return past && isPast(frame); };
  ASSERT_TRUE(
      device(owner()).replica().transferOwnership(kPartition, std::string(1, next), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), next);
  const char asks = without("abcde", std::string(1, next)).front();
  device(asks).answers.clear();
  device(asks).submit(spend("op-1", 1));
  cluster.run();
  EXPECT_EQ(device(asks).answered("op-1"), nullptr);
  device(asks).submit(beginning());
  cluster.run();
  EXPECT_EQ(device(asks).answered("init-e"), nullptr);
  // Its own people are told that they have to wait, and not that nothing is known.
  device(next).answers.clear();
  device(next).submit(spend("op-2", 1));
  cluster.run();
  for (const Answer& answer : device(next).answers) EXPECT_EQ(answer.kind, AnswerKind::unavailable);
  past = false;
  pass();
  EXPECT_EQ(device(next).host().first(), 0u);
  ASSERT_NE(device(asks).answered("op-1"), nullptr);
  EXPECT_EQ(device(asks).answered("op-1")->outcome, kernel::Outcome::duplicate);
  EXPECT_EQ(device(asks).answered("op-1")->recorded, kernel::Outcome::approved);
  ASSERT_NE(device(asks).answered("init-e"), nullptr);
  EXPECT_EQ(device(asks).answered("init-e")->outcome, kernel::Outcome::duplicate);
  EXPECT_EQ(device(asks).answered("init-e")->recorded, kernel::Outcome::initialised);
}

// Who follows a copy goes on when it has pruned, or got back what it pruned: no position need be told first.
TEST_F(Pruning, WhatIsDecidedMeanwhileReachesAllAtOnce) {
  spendSome(20);
  pass();
  const char next = pruner();
  cluster.lose = isPast;
  ASSERT_TRUE(
      device(owner()).replica().transferOwnership(kPartition, std::string(1, next), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), next);
  ASSERT_GT(device(next).host().first(), 0u);
  cluster.lose = {};
  for (int i = 0; i < 60 && device(next).host().first() > 0; ++i) device(next).passTime(1'000), cluster.run();
  ASSERT_EQ(device(next).host().first(), 0u);
  spendSome(1);
  expectOneLog();
}

TEST_F(Pruning, ThoseThatAreToKeepEveryEntryGetBackWhatTheyPruned) {
  spendSome(20);
  pass();
  ASSERT_NE(pruned(), "");
  keeps = false;
  roster("abcde");
  pass();
  EXPECT_EQ(pruned(), "");
  expectOneLog();
  EXPECT_THAT(device('e').decided(), ::testing::SizeIs(20));
  for (char name = 'a'; name <= 'e'; ++name) {
    EXPECT_TRUE(device(name).replica().quiet());
    const Status scanned = device(name).stores[2].scan("p/budget/0/t", {}, [&](auto, auto) {
      ADD_FAILURE() << name << " has a tile left";
      return false;
    });
    EXPECT_TRUE(scanned.ok());
    cluster.losePower(device(name));
  }
  EXPECT_EQ(pruned(), "");
  connectAll("abcde");
  cluster.run();
  expectOneLog();
}

// A power cut while it pruned left the later ones of the rows that were to go.
TEST_F(Pruning, WhatAnInterruptedPruneLeftIsNotTakenForWhatCameBack) {
  spendSome(20);
  pass();
  const char back = pruner();
  store::WriteBatch left;
  for (std::uint64_t n = 1; n < device(back).host().first(); ++n)
    left.put(concat("p/budget/0/", kernel::batchKey(n)), *device(keeper()).host().ledger().batch(n));
  ASSERT_TRUE(device(back).stores[2].writeSynced(left).ok());
  keeps = false;
  roster("abcde", std::string(1, back));
  pass(30);
  EXPECT_EQ(device(back).host().first(), 0u);
  EXPECT_EQ(verify(back).problem, "");
}

// Just when they are there, and not yet on its disk; and when they are, and nothing else is.
TEST_F(Pruning, APowerCutWhileTheyComeBackLosesNothing) {
  spendSome(20);
  pass();
  const char back = pruner();
  int came = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (!isPast(frame) || ++came > 2) return false;
    cluster.hand(frame);
    const Status drained = came == 2 ? device(back).drain() : okStatus();
    EXPECT_TRUE(drained.ok());
    cluster.losePower(device(back));
    return true;
  };
  keeps = false;
  roster("abcde", std::string(1, back));
  for (int n = 0; n < 3; ++n) {
    pass(30);
    for (const char name : without("abcde", std::string(1, back)))
      if (!device(back).replica().isConnected(std::string(1, name))) cluster.connect(device(name), device(back));
    cluster.run();
  }
  EXPECT_GE(came, 2);
  EXPECT_EQ(device(back).host().first(), 0u);
  EXPECT_EQ(verify(back).problem, "");
}

// A device answers with batches that are not those of the log.
TEST_F(Pruning, BatchesThatDifferAreRefusedAndAnotherDeviceIsAsked) {
  spendSome(20);
  pass();
  const char back = pruner();
  int altered = 0;
  const std::function<bool(const TestCluster::Frame&)> alter = [&](const TestCluster::Frame& frame) {
    if (!isPast(frame) || altered > 0) return false;
    ++altered;
    handAltered<Past>(frame, [&](Past& past) {
      EXPECT_GT(past.batches.size(), 3u);
      past.batches[2].value.back() ^= 1;
    });
    return true;
  };
  cluster.lose = alter;
  keeps = false;
  roster("abcde", std::string(1, back));
  pass();
  EXPECT_EQ(altered, 1);
  EXPECT_EQ(device(back).host().first(), 0u);
  EXPECT_EQ(device(back).replica().counters().pastRefused, 1u);
  EXPECT_TRUE(device(back).hasIncident("badEntries"));
  EXPECT_EQ(verify(back).problem, "");
}

TEST_F(Pruning, WhoSendsMoreThanWasAskedForIsCutOff) {
  spendSome(20);
  pass();
  const char back = pruner();
  int altered = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (!isPast(frame) || altered > 0) return false;
    ++altered;
    handAltered<Past>(frame, [&](Past& past) {
      while (past.batches.size() <= device(back).host().first()) past.batches.push_back(past.batches.front());
    });
    return true;
  };
  keeps = false;
  roster("abcde", std::string(1, back));
  pass(30);
  EXPECT_EQ(altered, 1);
  EXPECT_EQ(device(back).replica().counters().badFrames, 1u);
}

// However often a device asks at once, it gets one answer.
TEST_F(Pruning, WhoAsksAgainAndAgainGetsOneAnswer) {
  spendSome(20);
  pass();
  std::string bytes;
  WordWriter words;
  appendFrame(bytes, words, AskPast{std::string(kPartition), 0, 10});
  int answers = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    answers += isPast(frame) ? 1 : 0;
    return false;
  };
  const char from = pruner();
  for (int n = 0; n < 50; ++n) cluster.hand({std::string(1, from), std::string(1, keeper()), bytes});
  cluster.run();
  EXPECT_EQ(answers, 1);
  EXPECT_GT(device(from).host().first(), 0u);
}

// Nobody asked for it.
TEST_F(Pruning, BatchesThatNobodyAskedForAreNothing) {
  spendSome(20);
  pass();
  const char back = pruner();
  std::string bytes;
  WordWriter words;
  appendFrame(bytes, words, Past{std::string(kPartition), 0, {{{1, 2, 3}, {}}}});
  cluster.hand({std::string(1, keeper()), std::string(1, back), bytes});
  cluster.run();
  EXPECT_FALSE(device(back).hasIncident("badEntries"));
  EXPECT_GT(device(back).host().first(), 0u);
}

// Behind what was pruned nothing is left: a log that parts just there was cut.
TEST_F(Pruning, ALogMayEndWhereItWasPruned) {
  spendSome(20);
  pass();
  const char cut = pruner();
  const std::uint64_t first = device(cut).host().first();
  store::WriteBatch rows;
  ASSERT_TRUE(device(cut).host().truncateDivergent(first, rows).ok());
  ASSERT_TRUE(device(cut).stores[2].writeSynced(rows).ok());
  cluster.losePower(device(cut));
  EXPECT_EQ(device(cut).host().first(), first);
  EXPECT_EQ(device(cut).host().ledger().batches(), first);
  join(cut);
  pass();
  expectOneLog();
}

// All others went back to before what one has pruned, and went on from there.
TEST_F(Pruning, ALogThatPartsFromWhatWasPrunedIsBegunAnew) {
  spendSome(4);
  pass(60);
  std::map<char, std::shared_ptr<const store::DiskImage>> early;
  for (char name = 'a'; name <= 'e'; ++name) early[name] = device(name).stores[2].image();
  spendSome(20);
  pass();
  const char alone = pruner();
  ASSERT_GT(device(alone).host().firstEntry(), 5u);
  cutOff(alone);
  const std::string others = without("abcde", std::string(1, alone));
  for (const char name : others) {
    cluster.losePower(device(name));
    device(name).stores[2].restoreImage(*early[name]);
    cluster.losePower(device(name));
  }
  connectAll(others);
  cluster.run();
  const char taker = without(others, "ade").front();
  ASSERT_TRUE(device(taker).replica().forceTakeover(kPartition, "went back", at(device(taker).ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), taker);
  spendSome(2);
  join(alone);
  pass();
  expectOneLog();
  EXPECT_GT(device(alone).aside(), 0u);
  EXPECT_TRUE(device(alone).hasIncident("surplus"));
}

}  // namespace
}  // namespace witan::node::test::pruning_test
