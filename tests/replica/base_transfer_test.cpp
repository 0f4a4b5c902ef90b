// New copies that begin where a pruned copy's log begins: who vouches for that, and what a copy refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/ledger/pruned_log.h"
#include "kernel/ledger/snapshot.h"
#include "replica/core/folded_log.h"
#include "replica/head_exchange.h"
#include "store/prefix_store.h"
#include "tests/replica/pruning_cluster.h"

namespace witan::node::test::base_transfer_test {
namespace {

class NewCopies : public PrunedCluster {
 protected:
  void SetUp() override {
    PrunedCluster::SetUp();
    spendSome(20);
    pass();
    fresh = pruner();
    ASSERT_THAT(serving(), ::testing::Not(::testing::IsEmpty()));
  }
  // Devices with a base, without the new one.
  std::string serving() { return without(pruned(), std::string(1, fresh)); }
  // Its disk is lost.
  void begin() {
    cutOff(fresh);
    for (store::MemoryStore& disk : device(fresh).stores) disk.wipe();
    cluster.losePower(device(fresh));
    device(fresh).notices.clear();
    join(fresh);
  }
  void expectBegun(bool begun, std::uint64_t refused = 0) {
    EXPECT_EQ(device(fresh).replica().counters().copiesBegun, begun ? 1u : 0u);
    EXPECT_EQ(device(fresh).replica().counters().basesRefused, refused);
    EXPECT_EQ(device(fresh).noticed("copyBegun"), begun);
    EXPECT_TRUE(device(fresh).replica().quiet());
    for (const Notice& notice : device(fresh).notices)
      if (begun && notice.kind == "baseRefused") ADD_FAILURE() << notice.what;
    expectNothingLeft();
    spendSome(2);
    expectOneLog();
  }
  void expectNothingLeft() {
    const Status scanned = device(fresh).stores[2].scan("n/", {}, [&](std::string_view key, std::string_view) {
      ADD_FAILURE() << key;
      return true;
    });
    EXPECT_TRUE(scanned.ok());
  }
  // Alters the rows of a device's copy, and signs what it has pruned by its key.
  void signAgain(char liar, const std::function<void(store::PrefixStore& rows, const std::string& base)>& alter) {
    store::PrefixStore rows(device(liar).stores[2], "p/budget/0/");
    const auto pruned = kernel::prunedLog(rows).value().value();
    alter(rows, concat("b", kernel::batchKey(pruned.batches).substr(1)));
    ASSERT_TRUE(kernel::beginPruned(rows, pruned, {}, TestKeys(std::string(1, liar)).key(), at(0).wall).ok());
  }
  static void put(store::Store& rows, const std::string& key, const std::string& value) {
    store::WriteBatch batch;
    batch.put(key, value);
    ASSERT_TRUE(rows.write(batch).ok());
  }
  bool isTo(const TestCluster::Frame& frame, AdjudicationFrame type) const {
    return frame.to == std::string(1, fresh) && is(frame, type);
  }
  // Alters the first such frame that comes to it.
  template <class T>
  void alterFirst(std::function<void(T&)> change) {
    cluster.lose = [this, change, altered = false](const TestCluster::Frame& frame) mutable {
      if (altered || !isTo(frame, T::kFrame)) return false;
      altered = true;
      handAltered<T>(frame, change);
      return true;
    };
  }

  char fresh = '?';
};

TEST_F(NewCopies, BeginWithTheBaseOfOneThatPrunedAndTakeNoOlderEntries) {
  std::uint64_t oldest = ~std::uint64_t{0};
  cluster.lose = [&](const TestCluster::Frame& frame) {
    Past past;
    if (isTo(frame, AdjudicationFrame::past) &&
        readMessage(std::string_view(frame.bytes).substr(replication::kFrameHeaderBytes), past, "past").ok())
      oldest = std::min(oldest, past.from);
    Entries entries;
    if (isTo(frame, AdjudicationFrame::entries) &&
        readMessage(std::string_view(frame.bytes).substr(replication::kFrameHeaderBytes), entries, "entries").ok())
      oldest = std::min(oldest, entries.batch);
    return false;
  };
  begin();
  pass(30);
  const std::uint64_t first = device(fresh).host().first();
  EXPECT_GT(first, 0u);
  EXPECT_GE(oldest, first);
  const HeadExchange::Heads* heads = device(fresh).replica().heads().find(kPartition);
  ASSERT_TRUE(heads != nullptr && heads->latest);
  expectBegun(true);
  const auto begun = kernel::prunedLog(device(fresh).host().rows());
  ASSERT_TRUE(begun.ok() && *begun);
  EXPECT_THAT((*begun)->vouched, ::testing::SizeIs(2));
  // Of the copy that is its own from now on: it says so after a restart, prunes, and gets back everything.
  cluster.losePower(device(fresh));
  connectAll("abcde");
  cluster.run();
  expectOneLog();
  spendSome(20);
  pass();
  EXPECT_GT(device(fresh).host().first(), first);
  expectOneLog();
  keeps = false;
  roster("abcde");
  pass();
  EXPECT_EQ(pruned(), "");
  expectOneLog();
  EXPECT_THAT(device(fresh).decided(), ::testing::SizeIs(42));
}

TEST_F(NewCopies, KnowWhatWasDecidedBefore) {
  begin();
  pass(30);
  ASSERT_GT(device(fresh).host().first(), 0u);
  EXPECT_TRUE(device(fresh).host().partition().knows("op-1"));
  ASSERT_TRUE(
      device(owner()).replica().transferOwnership(kPartition, std::string(1, fresh), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), fresh);
  pass();
  EXPECT_EQ(device(fresh).host().first(), 0u);
  expectOneLog();
}

// What came was altered on its way, or by a device that did not sign it.
TEST_F(NewCopies, RefuseRowsThatTheirDeviceDidNotSign) {
  alterFirst<Base>([](Base& base) { base.rows.front().value.back() ^= 1; });
  begin();
  pass(30);
  expectBegun(false, 1);
  EXPECT_EQ(device(fresh).host().first(), 0u);
}

TEST_F(NewCopies, RefuseRowsThatAreNoBase) {
  alterFirst<Base>([](Base& base) { base.rows.push_back({{'l', 0, 0, 0, 0, 0, 0, 0, 1}, {1}}); });
  begin();
  pass(30);
  expectBegun(false, 1);
}

TEST_F(NewCopies, RefuseMoreThanTheOwnerSaysThereIs) {
  alterFirst<Base>([](Base& base) {
    base.rows.back().value.resize(4 << 20);
    base.last = false;
  });
  begin();
  pass(30);
  expectBegun(false, 1);
}

TEST_F(NewCopies, RefuseTheWordOfAnOwnerThatIsNotSigned) {
  alterFirst<Folded>([](Folded& folded) { folded.note[folded.note.find("folded ") + 7] ^= 1; });
  begin();
  pass(30);
  expectBegun(false, 1);
}

TEST_F(NewCopies, RefuseBatchesThatTheRulesDoNotGive) {
  alterFirst<Past>([](Past& past) { past.batches.front().value.back() ^= 1; });
  begin();
  pass(30);
  expectBegun(false, 1);
}

// Under a good signature: of a device whose base holds another amount for the entity, or knows nothing of an operation.
TEST_F(NewCopies, RefuseABaseThatIsNotWhatTheLogAddsUpTo) {
  const std::string liars = serving();
  const std::string amount = concat(kernel::kSnapshotEntityPrefix, "e"), operations = kernel::snapshotChunkKey('o', 0);
  for (const std::string& row : {amount, operations}) {
    std::string before;
    const auto alter = [&](const std::function<void(std::string&)>& change) {
      for (const char liar : liars)
        signAgain(liar, [&](store::PrefixStore& rows, const std::string& base) {
          std::string payload = kernel::unsealSnapshot(rows.get(base + row).value().value()).value();
          change(payload);
          put(rows, base + row, kernel::sealSnapshot(payload));
        });
    };
    alter([&](std::string& payload) {
      before = payload;
      const std::size_t digit = payload.find_last_of("123456789");
      row == amount ? payload[digit] = payload[digit] == '1' ? '2' : '1' : payload[0] ^= 1;
    });
    begin();
    pass(30);
    EXPECT_EQ(device(fresh).replica().counters().basesRefused, 1u) << row;
    EXPECT_TRUE(device(fresh).hasIncident("baseDiffers")) << row;
    EXPECT_EQ(device(fresh).host().first(), 0u);
    expectNothingLeft();
    expectOneLog(without("abcde", liars));
    alter([&](std::string& payload) { payload = before; });
  }
  expectOneLog();
}

// Rows that would stand beside the state once it is opened. The first of each time.
TEST_F(NewCopies, RefuseABaseWithRowsOfOtherKinds) {
  for (const std::string& row : {std::string("format"), std::string("pruned"), kernel::batchKey(0),
                                 kernel::checkpointKey(3), std::string("s/x"), std::string("s/o/123456789")}) {
    alterFirst<Base>([&](Base& base) {
      const std::string key = concat("b", kernel::batchKey(base.batches).substr(1), row);
      base.rows.push_back({{key.begin(), key.end()}, {1}});
      std::ranges::sort(base.rows, {}, &BaseRow::key);
    });
    begin();
    pass(30);
    EXPECT_EQ(device(fresh).replica().counters().basesRefused, 1u) << row;
    EXPECT_EQ(device(fresh).host().first(), 0u) << row;
    expectNothingLeft();
    expectOneLog();
    cluster.lose = {};
    pass();
  }
}

// Without a digest of a batch below the base nothing can be proven.
TEST_F(NewCopies, RefuseABaseThatLacksADigest) {
  alterFirst<Base>([](Base& base) {
    std::erase_if(base.rows, [](const BaseRow& row) { return row.key.front() == 'h' && row.key.back() == 3; });
  });
  begin();
  pass(30);
  expectBegun(false, 1);
}

TEST_F(NewCopies, DoNotWaitForAnswersThatHoldNothing) {
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (!isTo(frame, AdjudicationFrame::past)) return false;
    handAltered<Past>(frame, [](Past& past) { past.batches.clear(); });
    return true;
  };
  begin();
  pass(30);
  expectBegun(false, 1);
}

// A row now and then.
TEST_F(NewCopies, DoNotWaitForEver) {
  std::vector<BaseRow> rows;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (!isTo(frame, AdjudicationFrame::base)) return false;
    handAltered<Base>(frame, [&](Base& base) {
      base.rows.resize(1);
      base.last = false;
    });
    return true;
  };
  begin();
  for (int n = 0; n < 20 && device(fresh).host().durableBatches() == 0; ++n) pass(60);
  EXPECT_EQ(device(fresh).host().durableBatches(), device(owner()).host().durableBatches());
  cluster.lose = {};
  EXPECT_TRUE(device(fresh).replica().quiet());
}

// The one that is asked prunes on while batches come.
TEST_F(NewCopies, BeginAgainIfTheBatchesAreGone) {
  bool held = true;
  cluster.lose = [&](const TestCluster::Frame& frame) { return held && isTo(frame, AdjudicationFrame::past); };
  begin();
  pass(5);
  spendSome(20);
  pass(70, without("abcde", std::string(1, fresh)));
  held = false;
  pass(100);
  expectBegun(true);
}

// The roster says so while it begins.
TEST_F(NewCopies, AreGivenUpWhileTheyBegin) {
  cluster.lose = [&](const TestCluster::Frame& frame) { return isTo(frame, AdjudicationFrame::base); };
  begin();
  pass(5);
  EXPECT_FALSE(device(fresh).replica().quiet());
  copies = 2;
  roster("abcde");
  pass(200);
  EXPECT_EQ(device(fresh).replica().host(kPartition), nullptr);
  EXPECT_TRUE(device(fresh).replica().quiet());
  expectNothingLeft();
}

// An owner that gets back what it pruned says nothing before it has every entry.
TEST_F(NewCopies, TakeTheWholeLogWhileTheOwnerLacksEntries) {
  const char next = serving().front();
  cluster.lose = [&](const TestCluster::Frame& frame) { return isPast(frame) && frame.to == std::string(1, next); };
  ASSERT_TRUE(
      device(owner()).replica().transferOwnership(kPartition, std::string(1, next), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), next);
  ASSERT_GT(device(next).host().first(), 0u);
  begin();
  pass(30);
  EXPECT_EQ(device(fresh).host().first(), 0u);
  EXPECT_EQ(device(fresh).replica().counters().copiesBegun, 0u);
}

// It follows an owner whose epoch is over, and is not asked.
TEST_F(NewCopies, DoNotBeginWithALogOfAnEarlierEpoch) {
  const char old = owner(), behind = serving().front();
  cutOff(behind);
  const char next = without(wholeOnes(), std::string(1, old)).front();
  for (const char name : without("abcde", std::string(1, old) + behind))
    if (name != fresh) device(name).passTime(1);
  ASSERT_TRUE(device(old).replica().transferOwnership(kPartition, std::string(1, next), "", at(device('a').ms)).ok());
  cluster.run();
  ASSERT_EQ(owner(), next);
  spendSome(3);
  cutOff(fresh);
  for (store::MemoryStore& disk : device(fresh).stores) disk.wipe();
  cluster.losePower(device(fresh));
  // It meets the new owner, and of the others the one that is behind, which hears of nothing meanwhile.
  cluster.lose = [&](const TestCluster::Frame& frame) {
    return frame.to == std::string(1, behind) && is(frame, AdjudicationFrame::standing);
  };
  for (const char name : {next, behind}) cluster.connect(device(std::min(name, fresh)), device(std::max(name, fresh)));
  cluster.run();
  pass(10);
  EXPECT_EQ(device(fresh).host().first(), 0u);
  EXPECT_EQ(device(fresh).replica().counters().basesRefused, 0u);
}

TEST_F(NewCopies, TakeTheWholeLogWhereNoTwoDevicesCanSay) {
  cutOff(fresh);
  for (store::MemoryStore& disk : device(fresh).stores) disk.wipe();
  cluster.losePower(device(fresh));
  for (const char name : without(wholeOnes(), std::string(1, owner())))
    cluster.connect(device(std::min(name, fresh)), device(std::max(name, fresh)));
  cluster.run();
  EXPECT_EQ(device(fresh).host().durableBatches(), 0u);  // others may say more in a moment
  pass(10);
  EXPECT_EQ(device(fresh).host().first(), 0u);
  EXPECT_EQ(device(fresh).host().durableBatches(), device(owner()).host().durableBatches());
  EXPECT_EQ(device(fresh).replica().counters().basesRefused, 0u);
}

TEST_F(NewCopies, TakeTheWholeLogIfTheyMustKeepEveryEntry) {
  fresh = keeper();
  begin();
  EXPECT_EQ(device(fresh).host().first(), 0u);
  EXPECT_EQ(device(fresh).host().durableBatches(), device(owner()).host().durableBatches());
  expectBegun(false);
}

TEST_F(NewCopies, TakeTheWholeLogFromOthersIfOneDoesNotAnswer) {
  for (const AdjudicationFrame silent : {AdjudicationFrame::folded, AdjudicationFrame::base, AdjudicationFrame::past}) {
    cluster.lose = [&](const TestCluster::Frame& frame) { return isTo(frame, silent); };
    begin();
    pass(60);
    EXPECT_EQ(device(fresh).host().durableBatches(), 0u);
    pass(60);
    EXPECT_EQ(device(fresh).host().durableBatches(), device(owner()).host().durableBatches());
    cluster.lose = {};
    expectBegun(false, 1);
    pass();
  }
}

// Those who are asked prune on, the owner decides on.
TEST_F(NewCopies, BeginAgainIfTheBaseChangesMeanwhile) {
  bool held = true;
  cluster.lose = [&](const TestCluster::Frame& frame) { return held && isTo(frame, AdjudicationFrame::base); };
  begin();
  pass(5);
  const std::uint64_t before = device(serving().front()).host().first();
  spendSome(20);
  pass(70, without("abcde", std::string(1, fresh)));
  ASSERT_GT(device(serving().front()).host().first(), before);
  held = false;
  pass(100);
  EXPECT_GT(device(fresh).host().first(), before);
  expectBegun(true);
}

TEST_F(NewCopies, FollowWhatIsDecidedWhileTheyBegin) {
  int came = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    if (isTo(frame, AdjudicationFrame::base) && came++ < 3) device(owner()).submit(spend(concat("late-", came), 1));
    return false;
  };
  begin();
  pass(30);
  EXPECT_GT(came, 0);
  expectBegun(true);
}

// At each write of it.
TEST_F(NewCopies, APowerCutLeavesNothingOrACopy) {
  int begun = 0, cuts = 0;
  for (std::uint64_t step = 0; cuts == static_cast<int>(step); ++step) {
    cutOff(fresh);
    for (store::MemoryStore& disk : device(fresh).stores) disk.wipe();
    cluster.losePower(device(fresh));
    device(fresh).stores[2].crashAt(step);
    cluster.died = [&](Device& device) {
      ASSERT_EQ(device.name(), std::string(1, fresh));
      cluster.losePower(device);
      ASSERT_TRUE(device.replica().damagedPartitions().empty()) << step;
      begun += device.host().first() > 0 ? 1 : 0;
      ++cuts;
      expectNothingLeft();
    };
    join(fresh);
    cluster.died = {};
    device(fresh).stores[2].crashAt(~std::uint64_t{0});
    if (!device(fresh).replica().isConnected(std::string(1, owner()))) join(fresh);
    pass(30);
    ASSERT_GT(device(fresh).host().first(), 0u) << step;
    ASSERT_EQ(device(fresh).host().durableBatches(), device(owner()).host().durableBatches()) << step;
    expectOneLog();
  }
  EXPECT_GT(cuts, 8);
  EXPECT_GT(begun, 2);
}

// An owner folds its log once for all that ask, and a device gets one answer a round.
TEST_F(NewCopies, AskingAgainAndAgainGetsOneAnswer) {
  std::string folded, base;
  WordWriter words;
  appendFrame(folded, words, AskFolded{std::string(kPartition), 1});
  const char serves = serving().front();
  appendFrame(base, words, AskBase{std::string(kPartition), device(serves).host().first(), {}});
  int said = 0, rows = 0;
  cluster.lose = [&](const TestCluster::Frame& frame) {
    said += isTo(frame, AdjudicationFrame::folded) ? 1 : 0;
    rows += isTo(frame, AdjudicationFrame::base) ? 1 : 0;
    return false;
  };
  for (int n = 0; n < 50; ++n) {
    cluster.hand({std::string(1, fresh), std::string(1, owner()), folded});
    cluster.hand({std::string(1, fresh), std::string(1, serves), base});
  }
  cluster.run();
  EXPECT_EQ(said, 1);
  EXPECT_EQ(rows, 1);
  EXPECT_GT(device(fresh).host().first(), 0u);  // what nobody asked for is nothing
}

TEST(FoldedLog, NotesAreOfOneLedgerByOneOfTheKeys) {
  const FoldedLog log{7, 5, sha256("x"), 300, {}};
  const SigningKey key = TestKeys("a").key();
  const std::vector<PublicKey> keys{key.publicKey()};
  const std::string note = signFolded(log, sha256("root"), "test/budget/0", key).value();
  const auto read = openFolded(note, "test/budget/0", keys);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->batches, 7u);
  EXPECT_EQ(read->entries, 5u);
  EXPECT_EQ(read->digest, sha256("x"));
  EXPECT_EQ(read->bytes, 300u);
  EXPECT_FALSE(openFolded(note, "test/budget/1", keys).ok());
  EXPECT_FALSE(openFolded(note, "test/budget/0", std::vector<PublicKey>{TestKeys("b").key().publicKey()}).ok());
  for (const std::string line : {"folded 7 00 300", "folded x 00 300", "other", "folded 7"}) {
    const std::string other =
        kernel::signCheckpoint({"witan-copy/test/budget/0", 5, sha256("root"), {line}}, key).value();
    EXPECT_EQ(openFolded(other, "test/budget/0", keys).error().code, ErrorCode::invalidInput) << line;
  }
}

}  // namespace
}  // namespace witan::node::test::base_transfer_test
