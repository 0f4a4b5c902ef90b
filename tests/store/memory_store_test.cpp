// Every fault of the twin, striking.
#include "store/memory_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace witan::store::memory_store_test {
namespace {

WriteBatch one(std::string_view key, std::string_view value) {
  WriteBatch batch;
  batch.put(key, value);
  return batch;
}

std::string content(const Store& store) {
  std::string all;
  EXPECT_TRUE(store
                  .scan("", "",
                        [&](std::string_view key, std::string_view value) {
                          all += std::string(key) + "=" + std::string(value) + " ";
                          return true;
                        })
                  .ok());
  return all;
}

TEST(MemoryStore, ACrashLosesWhatWasNotSynced) {
  MemoryStore store;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  ASSERT_TRUE(store.write(one("b", "2")).ok());
  ASSERT_TRUE(store.write(one("a", "3")).ok());
  EXPECT_EQ(store.unsyncedBatches(), 2u);
  EXPECT_EQ(store.crash(), (CrashReport{.kept = 0, .lost = 2, .torn = false}));
  EXPECT_EQ(content(store), "a=1 ");
  EXPECT_EQ(store.unsyncedBatches(), 0u);
}

TEST(MemoryStore, TheChosenPrefixOfUnsyncedBatchesSurvives) {
  for (std::size_t keep = 0; keep <= 4; ++keep) {
    MemoryStore store;
    for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(store.write(one(key, "1")).ok());
    const CrashReport report = store.crash({.keepUnsynced = keep, .tearLastValue = {}});
    EXPECT_EQ(report.kept, std::min<std::size_t>(keep, 3));
    EXPECT_EQ(content(store), std::string("a=1 b=1 c=1 ").substr(0, 4 * std::min<std::size_t>(keep, 3)));
    store.crash();  // what a reopened disk showed stays
    EXPECT_EQ(content(store).size(), 4 * std::min<std::size_t>(keep, 3));
  }
}

TEST(MemoryStore, TheLastSurvivorIsTornWhereAsked) {
  for (std::size_t bytes = 0; bytes <= 5; ++bytes) {
    MemoryStore store;
    ASSERT_TRUE(store.writeSynced(one("a", "kept")).ok());
    WriteBatch batch;
    batch.put("b", "whole");
    batch.put("c", "torn!");
    batch.erase("z");
    ASSERT_TRUE(store.write(batch).ok());
    ASSERT_TRUE(store.write(one("d", "lost")).ok());
    const CrashReport report = store.crash({.keepUnsynced = 1, .tearLastValue = bytes});
    EXPECT_EQ(report, (CrashReport{.kept = 1, .lost = 1, .torn = bytes < 5}));
    EXPECT_EQ(content(store), "a=kept b=whole c=" + std::string("torn!").substr(0, bytes) + " ");
  }
}

TEST(MemoryStore, SyncedAndErasedValuesAreNeverTorn) {
  MemoryStore store;
  ASSERT_TRUE(store.writeSynced(one("a", "kept")).ok());
  EXPECT_FALSE(store.crash({.keepUnsynced = 9, .tearLastValue = 0}).torn);
  WriteBatch batch;
  batch.erase("x");
  ASSERT_TRUE(store.write(batch).ok());
  EXPECT_FALSE(store.crash({.keepUnsynced = 9, .tearLastValue = 0}).torn);
  EXPECT_EQ(content(store), "a=kept ");
}

TEST(MemoryStore, AFailedWriteClosesTheStoreForWriting) {
  for (Moment moment : {Moment::before, Moment::after}) {
    MemoryStore store;
    ASSERT_TRUE(store.write(one("a", "1")).ok());
    store.failAt(1, moment);
    ASSERT_TRUE(store.sync().ok());
    EXPECT_FALSE(store.struck());
    const Status failed = store.write(one("b", "2"));
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::ioFailed);
    EXPECT_TRUE(store.struck());
    EXPECT_FALSE(store.write(one("c", "3")).ok());
    EXPECT_FALSE(store.write({}).ok());
    EXPECT_FALSE(store.sync().ok());
    EXPECT_FALSE(store.writeSynced(one("c", "3")).ok());
    EXPECT_EQ(content(store), moment == Moment::before ? "a=1 " : "a=1 b=2 ") << "reads go on";
    store.reopen();
    EXPECT_EQ(content(store), moment == Moment::before ? "a=1 " : "a=1 b=2 ");
    EXPECT_TRUE(store.writeSynced(one("c", "3")).ok()) << "the fault is gone after reopening";
  }
}

TEST(MemoryStore, AFailedSyncMayOrMayNotHaveReachedTheDisk) {
  for (Moment moment : {Moment::before, Moment::after}) {
    MemoryStore store;
    store.failAt(1, moment);  // the sync of:
    ASSERT_FALSE(store.writeSynced(one("a", "1")).ok());
    EXPECT_EQ(content(store), "a=1 ") << "visible in any case";
    store.crash();
    EXPECT_EQ(content(store), moment == Moment::before ? "" : "a=1 ");
  }
}

TEST(MemoryStore, NothingWorksWithoutPower) {
  MemoryStore store;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  store.crashAt(0);
  EXPECT_FALSE(store.write(one("b", "2")).ok());
  EXPECT_FALSE(store.get("a").ok());
  EXPECT_FALSE(store.last("").ok());
  EXPECT_FALSE(store.scan("", "", [](auto, auto) { return true; }).ok());
  {
    auto snapshot = store.snapshot();
    EXPECT_FALSE(snapshot->get("a").ok());
  }
  EXPECT_FALSE(store.sync().ok());
  store.crash();
  EXPECT_EQ(content(store), "a=1 ");
}

TEST(MemoryStore, AnyReadCanFailOnce) {
  MemoryStore store;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  store.failReadAt(1);
  EXPECT_TRUE(store.get("a").ok());
  EXPECT_FALSE(store.scan("", "", [](auto, auto) { return true; }).ok());
  EXPECT_TRUE(store.get("a").ok());
  store.failReadAt(0);
  EXPECT_FALSE(store.last("").ok());
  auto snapshot = store.snapshot();
  store.failReadAt(2);
  EXPECT_TRUE(snapshot->get("a").ok());
  EXPECT_TRUE(snapshot->last("").ok());
  EXPECT_FALSE(snapshot->scan("", "", [](auto, auto) { return true; }).ok());
  EXPECT_EQ(store.reads(), 7u);
  EXPECT_TRUE(store.writeSynced(one("b", "1")).ok()) << "a failed read does not close the store";
}

// Operation 0, 1, 2, ... crashes until none does, in both moments: every prefix is reached, and none that is not one.
TEST(MemoryStore, CrashAtEveryWriteBoundary) {
  const auto program = [](MemoryStore& store) {
    int acknowledged = 0;
    if (!store.write(one("a", "1")).ok()) return acknowledged;
    if (!store.write(one("b", "2")).ok()) return acknowledged;
    if (!store.sync().ok()) return acknowledged;
    acknowledged = 2;
    if (!store.writeSynced(one("c", "3")).ok()) return acknowledged;
    return 3;
  };
  std::vector<std::string> seen;
  for (Moment moment : {Moment::before, Moment::after}) {
    for (std::uint64_t n = 0;; ++n) {
      MemoryStore store;
      store.crashAt(n, moment);
      const int acknowledged = program(store);
      if (!store.struck()) {
        EXPECT_EQ(n, 5u);
        EXPECT_EQ(store.writeSteps(), 5u);
        break;
      }
      store.crash();
      const std::string all = content(store);
      EXPECT_TRUE(std::string("a=1 b=2 c=3 ").starts_with(all));
      EXPECT_GE(all.size(), 4u * acknowledged);
      seen.push_back(all);
    }
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"", "", "", "a=1 b=2 ", "a=1 b=2 ",                 // before
                                            "", "", "a=1 b=2 ", "a=1 b=2 ", "a=1 b=2 c=3 "}));  // after
}

TEST(MemoryStore, UndoingRestoresWhatLostBatchesChanged) {
  MemoryStore store;
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) batch.put(key, "old");
  ASSERT_TRUE(store.writeSynced(batch).ok());
  batch.clear();
  batch.put("a", "1");
  batch.put("a", "2");
  batch.erase("b");
  batch.put("b", "again");
  batch.erase("c");
  batch.put("d", "new");
  batch.erase("d");
  ASSERT_TRUE(store.write(batch).ok());
  ASSERT_TRUE(store.write(one("c", "later")).ok());
  EXPECT_EQ(content(store), "a=2 b=again c=later ");
  store.crash({.keepUnsynced = 1, .tearLastValue = {}});
  EXPECT_EQ(content(store), "a=2 b=again ");
  ASSERT_TRUE(store.write(one("a", "3")).ok());
  ASSERT_TRUE(store.write(one("a", "4")).ok());
  store.crash();
  EXPECT_EQ(content(store), "a=2 b=again ");
}

TEST(MemoryStore, APutThatItsBatchErasedAgainIsNotTorn) {
  MemoryStore store;
  WriteBatch batch;
  batch.put("a", "whole");
  batch.erase("a");
  ASSERT_TRUE(store.write(batch).ok());
  EXPECT_FALSE(store.crash({.keepUnsynced = 1, .tearLastValue = 1}).torn);
  EXPECT_EQ(content(store), "");
}

TEST(MemoryStore, RotFlipsOneBitOfADurableValue) {
  MemoryStore store;
  EXPECT_EQ(store.rot(0, 0), std::nullopt) << "nothing is there";
  ASSERT_TRUE(store.writeSynced(one("empty", "")).ok());
  EXPECT_EQ(store.rot(0, 0), std::nullopt) << "nothing that could rot is there";
  ASSERT_TRUE(store.writeSynced(one("a", "aa")).ok());
  ASSERT_TRUE(store.writeSynced(one("b", "bb")).ok());
  ASSERT_TRUE(store.write(one("c", "not synced")).ok());
  EXPECT_EQ(store.rot(3, 17), "b") << "record 3 modulo 2, bit 17 modulo 16";
  EXPECT_EQ(content(store), "a=aa b=`b c=not synced empty= ");
  store.crash();
  EXPECT_EQ(content(store), "a=aa b=`b empty= ");
  EXPECT_EQ(store.rot(2, 8), "a");
  EXPECT_EQ(*store.get("a").value(), "a`");
}

TEST(MemoryStore, RotDoesNotReachASnapshot) {
  MemoryStore store;
  ASSERT_TRUE(store.writeSynced(one("a", "aa")).ok());
  auto snapshot = store.snapshot();
  ASSERT_EQ(store.rot(0, 0), "a");
  EXPECT_EQ(*snapshot->get("a").value(), "aa");
}

TEST(MemoryStoreDeathTest, SnapshotsDoNotOutliveTheirMoment) {
  MemoryStore store;
  auto snapshot = store.snapshot();
  EXPECT_DEATH(store.crash(), "not kept across a crash");
}

}  // namespace
}  // namespace witan::store::memory_store_test
