// What store/crashable_store.h promises of every implementation.
#include "store/crashable_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/memory_store.h"
#include "store/testing/crashable_rocks.h"

namespace witan::store::crashable_test {
namespace {

WriteBatch one(std::string_view key, std::string_view value) {
  WriteBatch batch;
  batch.put(key, value);
  return batch;
}

std::string content(const Store& store) {
  std::string all;
  const Status status = store.scan("", "", [&](std::string_view key, std::string_view value) {
    all += std::string(key) + "=" + std::string(value) + " ";
    return true;
  });
  return status.ok() ? all : status.error().message;
}

bool bytesHave(const CrashableStore& store, std::string_view needle) {
  bool found = false;
  store.visitBytes([&](std::string_view key, std::string_view value) {
    found = found || key.find(needle) != std::string::npos || value.find(needle) != std::string::npos;
    return true;
  });
  return found;
}

template <class Implementation>
class Crashable : public ::testing::Test {
 protected:
  Implementation concrete_;
  CrashableStore& store_ = concrete_;
};

using Implementations = ::testing::Types<MemoryStore, CrashableRocks>;
TYPED_TEST_SUITE(Crashable, Implementations);

TYPED_TEST(Crashable, TheChosenPrefixOfUnsyncedBatchesSurvives) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("0", "synced")).ok());
  std::string kept = "0=synced ";
  for (std::size_t keep = 0; keep <= 4; ++keep) {
    for (char letter : {'a', 'b', 'c'}) ASSERT_TRUE(store.write(one(std::string(keep + 1, letter), "1")).ok());
    EXPECT_EQ(store.unsyncedBatches(), 3u);
    const std::string before = content(store);
    const CrashReport report = store.crash({.keepUnsynced = keep, .tearLastValue = {}});
    const std::size_t survive = std::min<std::size_t>(keep, 3);
    EXPECT_EQ(report, (CrashReport{.kept = survive, .lost = 3 - survive, .torn = false}));
    EXPECT_EQ(store.unsyncedBatches(), 0u);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string key(keep + 1, static_cast<char>('a' + i));
      EXPECT_EQ(store.get(key).value().has_value(), i < survive) << key;
    }
    EXPECT_EQ(*store.get("0").value(), "synced");
    const std::string after = content(store);
    store.crash();  // what an opened disk showed stays
    EXPECT_EQ(content(store), after);
  }
}

TYPED_TEST(Crashable, AFailedStepClosesTheStoreUntilItIsOpenedAgain) {
  for (Moment moment : {Moment::before, Moment::after}) {
    CrashableStore& store = this->store_;
    store.wipe();
    ASSERT_TRUE(store.write(one("a", "1")).ok());
    store.failAt(1, moment);
    ASSERT_TRUE(store.sync().ok());
    EXPECT_FALSE(store.struck());
    const Status failed = store.write(one("b", "2"));
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::ioFailed);
    EXPECT_TRUE(store.struck());
    EXPECT_FALSE(store.write({}).ok());
    EXPECT_FALSE(store.sync().ok());
    EXPECT_FALSE(store.writeSynced(one("c", "3")).ok());
    const std::string expected = moment == Moment::before ? "a=1 " : "a=1 b=2 ";
    EXPECT_EQ(content(store), expected) << "reads go on";
    store.reopen();
    EXPECT_EQ(content(store), expected);
    EXPECT_TRUE(store.writeSynced(one("c", "3")).ok()) << "the fault is gone";
  }
}

TYPED_TEST(Crashable, CrashAtEveryStepKeepsWhatWasAcknowledged) {
  CrashableStore& store = this->store_;
  const auto program = [&] {
    int acknowledged = 0;
    if (!store.write(one("a", "1")).ok() || !store.write(one("b", "2")).ok() || !store.sync().ok()) return acknowledged;
    acknowledged = 2;
    if (!store.writeSynced(one("c", "3")).ok()) return acknowledged;
    return 3;
  };
  for (std::size_t keep : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
    for (Moment moment : {Moment::before, Moment::after}) {
      for (std::uint64_t n = 0;; ++n) {
        store.wipe();
        const std::uint64_t before = store.writeSteps();
        store.crashAt(n, moment);
        const int acknowledged = program();
        if (!store.struck()) {
          EXPECT_EQ(n, 5u);
          EXPECT_EQ(store.writeSteps() - before, 5u);
          break;
        }
        EXPECT_FALSE(store.get("a").ok());
        EXPECT_FALSE(store.last("").ok());
        EXPECT_FALSE(store.snapshot()->get("a").ok());
        store.crash({.keepUnsynced = keep, .tearLastValue = {}});
        const std::string all = content(store);
        EXPECT_TRUE(std::string("a=1 b=2 c=3 ").starts_with(all)) << all;
        EXPECT_GE(all.size(), 4u * acknowledged) << all;
      }
    }
  }
}

TYPED_TEST(Crashable, AnyReadCanFailOnce) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  const std::uint64_t before = store.reads();
  store.failReadAt(1);
  EXPECT_TRUE(store.get("a").ok());
  EXPECT_FALSE(store.scan("", "", [](auto, auto) { return true; }).ok());
  EXPECT_TRUE(store.last("").ok());
  auto snapshot = store.snapshot();
  store.failReadAt(0);
  EXPECT_FALSE(snapshot->get("a").ok());
  EXPECT_TRUE(snapshot->get("a").ok());
  EXPECT_EQ(store.reads() - before, 5u);
  EXPECT_TRUE(store.writeSynced(one("b", "1")).ok()) << "a failed read does not close the store";
}

TYPED_TEST(Crashable, AFullDiskTakesNothingUntilThereIsSpaceAndTheStoreIsOpenedAgain) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  store.setFull(true);
  EXPECT_FALSE(store.struck());
  for (int i = 0; i < 2; ++i) {
    const Status failed = store.writeSynced(one("b", "2"));
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::ioFailed);
    EXPECT_NE(failed.error().message.find("disk full"), std::string::npos) << failed.error().message;
    EXPECT_NE(failed.error().hint.find("free some space"), std::string::npos);
  }
  EXPECT_TRUE(store.struck());
  EXPECT_EQ(content(store), "a=1 ");
  store.crash();
  EXPECT_EQ(content(store), "a=1 ");
  EXPECT_FALSE(store.writeSynced(one("b", "2")).ok()) << "still full";
  store.setFull(false);
  EXPECT_FALSE(store.write(one("b", "2")).ok()) << "S5";
  store.crash();
  EXPECT_TRUE(store.writeSynced(one("b", "2")).ok());
  EXPECT_EQ(content(store), "a=1 b=2 ");
  store.setFull(true);
  EXPECT_FALSE(store.sync().ok());
}

TYPED_TEST(Crashable, RotIsOneBitOfOneValueForEver) {
  CrashableStore& store = this->store_;
  EXPECT_EQ(store.rot(0, 0), std::nullopt);
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(store.writeSynced(one(key, std::string(100, 'x'))).ok());
  const std::uint64_t steps = store.writeSteps();
  EXPECT_EQ(store.rot(4, 803), "b") << "record 4 modulo 3";
  EXPECT_EQ(store.writeSteps(), steps);
  const std::string rotten = "p" + std::string(99, 'x');  // bit 803 modulo 800
  EXPECT_EQ(*store.get("b").value(), rotten);
  store.crash();
  EXPECT_EQ(*store.get("b").value(), rotten);
  EXPECT_EQ(*store.get("a").value(), std::string(100, 'x'));
  store.crashAt(0);
  EXPECT_FALSE(store.sync().ok());
  EXPECT_EQ(store.rot(0, 0), std::nullopt) << "no power";
  store.crash();
}

TYPED_TEST(Crashable, ADiskGoesBackToAnEarlierCopy) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("a", "1")).ok());
  ASSERT_TRUE(store.write(one("b", "not synced")).ok());
  auto image = store.image();
  EXPECT_EQ(content(store), "a=1 b=not synced ");
  ASSERT_TRUE(store.writeSynced(one("a", "2")).ok());
  for (int i = 0; i < 2; ++i) {
    store.crashAt(0);
    EXPECT_FALSE(store.write(one("c", "3")).ok());
    store.restoreImage(*image);
    EXPECT_FALSE(store.struck());
    EXPECT_EQ(content(store), "a=1 ");
    ASSERT_TRUE(store.writeSynced(one("d", "4")).ok()) << "and the copy does not change";
    EXPECT_EQ(content(store), "a=1 d=4 ");
  }
  TypeParam other;
  other.restoreImage(*image);
  EXPECT_EQ(content(other), "a=1 ");
  image.reset();
  EXPECT_EQ(content(other), "a=1 ");
}

TYPED_TEST(Crashable, AWipedDiskIsEmptyAndWorks) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("a", "a durable one")).ok());
  ASSERT_TRUE(store.write(one("b", "1")).ok());
  EXPECT_TRUE(bytesHave(store, "a durable one"));
  store.wipe();
  EXPECT_EQ(content(store), "");
  EXPECT_FALSE(bytesHave(store, "a durable one"));
  ASSERT_TRUE(store.writeSynced(one("c", "1")).ok());
  store.crash();
  EXPECT_EQ(content(store), "c=1 ");
}

TYPED_TEST(Crashable, EveryByteIsVisited) {
  CrashableStore& store = this->store_;
  ASSERT_TRUE(store.writeSynced(one("durable-key", "durable-value")).ok());
  ASSERT_TRUE(store.write(one("durable-key", "unsynced-value")).ok());
  ASSERT_TRUE(store.write(one("unsynced-key", "x")).ok());
  for (const char* there : {"durable-key", "durable-value", "unsynced-key", "unsynced-value"}) {
    EXPECT_TRUE(bytesHave(store, there)) << there;
  }
  EXPECT_FALSE(bytesHave(store, "never written"));
  int visits = 0;
  store.visitBytes([&](auto, auto) { return ++visits < 2; });
  EXPECT_EQ(visits, 2);
}

}  // namespace
}  // namespace witan::store::crashable_test
