// The contract of store/store.h, S1 to S6, on every implementation.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "store/memory_store.h"
#include "store/rocks_store.h"
#include "store/testing/crashable_rocks.h"
#include "tests/store/temp_folder.h"

namespace witan::store::contract_test {
namespace {

using Pairs = std::vector<KeyValue>;
using namespace std::string_literals;

template <class Implementation>
class Crashed {
 public:
  Store& store() { return store_; }
  void reopen() { store_.crash(); }  // the hardest reopening: what was not synced is gone

 private:
  Implementation store_;
};

template <bool preallocate>
class Rocks {
 public:
  Rocks() { open(); }
  Store& store() { return *store_; }
  void reopen() {
    store_.reset();
    open();
  }

 private:
  void open() {
    auto opened = openRocksStore(folder_.path() / "store", {.preallocateLog = preallocate});
    if (!opened.ok()) throw std::runtime_error(opened.error().message);
    store_ = std::move(opened).value();
  }

  test::TempFolder folder_;
  std::unique_ptr<Store> store_;
};

template <class Harness>
class StoreContract : public ::testing::Test {
 protected:
  Store& store() { return harness_.store(); }
  void put(std::string_view key, std::string_view value) {
    WriteBatch batch;
    batch.put(key, value);
    ASSERT_TRUE(store().write(batch).ok());
  }
  Harness harness_;
};

using Implementations = ::testing::Types<Crashed<MemoryStore>, Rocks<true>, Rocks<false>, Crashed<CrashableRocks>>;
TYPED_TEST_SUITE(StoreContract, Implementations);

std::optional<std::string> get(const Reader& reader, std::string_view key) {
  auto result = reader.get(key);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? *result : std::nullopt;
}

Pairs scan(const Reader& reader, std::string_view prefix, std::string_view from = {}) {
  Pairs found;
  Status status = reader.scan(prefix, from, [&](std::string_view key, std::string_view value) {
    found.emplace_back(key, value);
    return true;
  });
  EXPECT_TRUE(status.ok());
  return found;
}

std::vector<std::string> keys(const Reader& reader, std::string_view prefix, std::string_view from = {}) {
  std::vector<std::string> found;
  for (auto& [key, value] : scan(reader, prefix, from)) found.push_back(key);
  return found;
}

std::optional<KeyValue> last(const Reader& reader, std::string_view prefix) {
  auto result = reader.last(prefix);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : std::nullopt;
}

TYPED_TEST(StoreContract, EmptyStoreHasNothing) {
  EXPECT_EQ(get(this->store(), "a"), std::nullopt);
  EXPECT_EQ(get(this->store(), ""), std::nullopt);
  EXPECT_TRUE(scan(this->store(), "").empty());
  EXPECT_EQ(last(this->store(), ""), std::nullopt);
  EXPECT_TRUE(this->store().sync().ok());
  EXPECT_TRUE(this->store().write({}).ok());
  EXPECT_TRUE(this->store().writeSynced({}).ok());
}

TYPED_TEST(StoreContract, AWriteIsVisibleAtOnce) {
  this->put("a", "1");
  EXPECT_EQ(get(this->store(), "a"), "1");
  this->put("a", "2");
  EXPECT_EQ(get(this->store(), "a"), "2");
}

TYPED_TEST(StoreContract, EraseRemovesAndErasingNothingIsFine) {
  this->put("a", "1");
  WriteBatch batch;
  batch.erase("a");
  batch.erase("never there");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  EXPECT_EQ(get(this->store(), "a"), std::nullopt);
  EXPECT_TRUE(scan(this->store(), "").empty());
}

TYPED_TEST(StoreContract, EmptyValuesAndBinaryKeys) {
  const std::string binary("\0\xff\0key\n", 7);
  this->put("empty", "");
  this->put(binary, "\0"s);
  this->put("", "the empty key");
  EXPECT_EQ(get(this->store(), "empty"), "");
  EXPECT_EQ(get(this->store(), binary), "\0"s);
  EXPECT_EQ(get(this->store(), ""), "the empty key");
  EXPECT_EQ(keys(this->store(), ""), (std::vector<std::string>{"", binary, "empty"}));
}

TYPED_TEST(StoreContract, ABatchAppliesInOrder) {
  WriteBatch batch;
  batch.put("a", "1");
  batch.put("b", "1");
  batch.erase("a");
  batch.put("b", "2");
  batch.erase("c");
  batch.put("c", "3");
  ASSERT_TRUE(this->store().write(batch).ok());
  EXPECT_EQ(scan(this->store(), ""), (Pairs{{"b", "2"}, {"c", "3"}}));
}

TYPED_TEST(StoreContract, KeysAreOrderedAsUnsignedBytes) {
  const std::vector<std::string> ordered = {"",   "\0"s, "\0\0"s, "\x01", "a",    "a\0"s,
                                            "ab", "b",   "\x7f",  "\x80", "\xff", "\xff\xff"};
  std::vector<std::string> shuffled = ordered;
  std::reverse(shuffled.begin(), shuffled.end());
  for (const std::string& key : shuffled) this->put(key, "v");
  EXPECT_EQ(keys(this->store(), ""), ordered);
}

TYPED_TEST(StoreContract, PrefixEdges) {
  for (const char* key : {"a", "a\xff", "a\xff\xff",
                          "a\xff\xff"
                          "b",
                          "b", "\xff", "\xff\xff", "\xff\xff\xff"})
    this->put(key, "v");
  const Store& store = this->store();
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys(store, "a"), (Keys{"a", "a\xff", "a\xff\xff",
                                    "a\xff\xff"
                                    "b"}));
  EXPECT_EQ(keys(store, "a\xff"), (Keys{"a\xff", "a\xff\xff",
                                        "a\xff\xff"
                                        "b"}));
  EXPECT_EQ(keys(store, "a\xff\xff"), (Keys{"a\xff\xff",
                                            "a\xff\xff"
                                            "b"}));
  EXPECT_EQ(keys(store, "b"), (Keys{"b"}));
  EXPECT_EQ(keys(store, "\xff"), (Keys{"\xff", "\xff\xff", "\xff\xff\xff"}));
  EXPECT_EQ(keys(store, "\xff\xff"), (Keys{"\xff\xff", "\xff\xff\xff"}));
  EXPECT_EQ(keys(store, "\xff\xff\xff\xff"), (Keys{}));
  EXPECT_EQ(keys(store, "aa"), (Keys{}));
}

TYPED_TEST(StoreContract, FromStaysInsideThePrefix) {
  for (const char* key : {"a", "b1", "b2", "b3", "c"}) this->put(key, "v");
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys(this->store(), "b", "b2"), (Keys{"b2", "b3"}));
  EXPECT_EQ(keys(this->store(), "b", "b11"), (Keys{"b2", "b3"}));
  EXPECT_EQ(keys(this->store(), "b", "a"), (Keys{"b1", "b2", "b3"}));
  EXPECT_EQ(keys(this->store(), "b", "b9"), (Keys{}));
  EXPECT_EQ(keys(this->store(), "b", "c"), (Keys{}));
  EXPECT_EQ(keys(this->store(), "", "b3"), (Keys{"b3", "c"}));
}

TYPED_TEST(StoreContract, AVisitorEndsTheScan) {
  for (const char* key : {"a", "b", "c"}) this->put(key, "v");
  int visits = 0;
  ASSERT_TRUE(this->store().scan("", "", [&](auto, auto) { return ++visits < 2; }).ok());
  EXPECT_EQ(visits, 2);
}

TYPED_TEST(StoreContract, LastOfAPrefix) {
  for (const char* key : {"a1", "a2", "b", "d\xff", "\xff\xff"}) this->put(key, key);
  const Store& store = this->store();
  EXPECT_EQ(last(store, "a"), (KeyValue{"a2", "a2"}));
  EXPECT_EQ(last(store, "a1"), (KeyValue{"a1", "a1"}));
  EXPECT_EQ(last(store, "c"), std::nullopt);
  EXPECT_EQ(last(store, "a3"), std::nullopt);
  EXPECT_EQ(last(store, "\x01"), std::nullopt);
  EXPECT_EQ(last(store, "d\xff"), (KeyValue{"d\xff", "d\xff"}));
  EXPECT_EQ(last(store, "\xff"), (KeyValue{"\xff\xff", "\xff\xff"}));
  EXPECT_EQ(last(store, "\xff\xff\xff"), std::nullopt);
  EXPECT_EQ(last(store, ""), (KeyValue{"\xff\xff", "\xff\xff"}));
}

TYPED_TEST(StoreContract, ASnapshotSeesItsMomentOnly) {
  this->put("a", "1");
  this->put("b", "1");
  auto snapshot = this->store().snapshot();
  WriteBatch batch;
  batch.put("a", "2");
  batch.erase("b");
  batch.put("c", "2");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  auto later = this->store().snapshot();
  EXPECT_EQ(scan(*snapshot, ""), (Pairs{{"a", "1"}, {"b", "1"}}));
  EXPECT_EQ(get(*snapshot, "a"), "1");
  EXPECT_EQ(get(*snapshot, "c"), std::nullopt);
  EXPECT_EQ(last(*snapshot, ""), (KeyValue{"b", "1"}));
  EXPECT_EQ(scan(*later, ""), (Pairs{{"a", "2"}, {"c", "2"}}));
  snapshot.reset();
  EXPECT_EQ(scan(this->store(), ""), (Pairs{{"a", "2"}, {"c", "2"}}));
}

TYPED_TEST(StoreContract, AScanDoesNotSeeWhatItsVisitorWrites) {
  for (const char* key : {"a", "b", "c"}) this->put(key, "old");
  Pairs seen;
  Status status = this->store().scan("", "", [&](std::string_view key, std::string_view value) {
    seen.emplace_back(key, value);
    WriteBatch batch;
    batch.put(std::string(key) + "x", "new");
    batch.put("c", "new");
    batch.erase("b");
    EXPECT_TRUE(this->store().write(batch).ok());
    return true;
  });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(seen, (Pairs{{"a", "old"}, {"b", "old"}, {"c", "old"}}));
  EXPECT_EQ(keys(this->store(), ""), (std::vector<std::string>{"a", "ax", "bx", "c", "cx"}));
}

TYPED_TEST(StoreContract, ReadersBesideAWriterSeeWholeBatches) {
  constexpr int kRounds = 300;
  std::thread writer([&] {
    for (int i = 1; i <= kRounds; ++i) {
      WriteBatch batch;
      for (const char* key : {"a", "b", "c"}) batch.put(key, std::to_string(i));
      EXPECT_TRUE(this->store().write(batch).ok());
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    Pairs found = scan(this->store(), "");
    ASSERT_TRUE(found.empty() || found.size() == 3);
    for (const auto& [key, value] : found) ASSERT_EQ(value, found[0].second);
  }
  writer.join();
}

TYPED_TEST(StoreContract, TenThousandOperationsInOneBatch) {
  WriteBatch batch;
  for (int i = 0; i < 10'000; ++i) batch.put("k" + std::to_string(100'000 + i), std::to_string(i));
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  this->harness_.reopen();
  Pairs found = scan(this->store(), "k");
  ASSERT_EQ(found.size(), 10'000u);
  EXPECT_EQ(found[9'999], (KeyValue{"k109999", "9999"}));
}

TYPED_TEST(StoreContract, BigValues) {
  std::string big(40u << 20, 'x');
  big[12'345'678] = '\0';
  WriteBatch batch;
  batch.put("before", "1");
  batch.put("big", big);
  batch.put("behind", "2");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  EXPECT_TRUE(get(this->store(), "big") == big);
  this->harness_.reopen();
  EXPECT_TRUE(get(this->store(), "big") == big);
  EXPECT_EQ(keys(this->store(), "be"), (std::vector<std::string>{"before", "behind"}));
}

TYPED_TEST(StoreContract, WhatIsTooLargeIsRefusedWithoutClosingTheStore) {
  WriteBatch batch;
  batch.put("fine", "1");
  batch.put(std::string(kMaxKeyBytes + 1, 'k'), "v");
  for (Status status : {this->store().write(batch), this->store().writeSynced(batch)}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
    EXPECT_NE(status.error().message.find("operation 1"), std::string::npos) << status.error().message;
  }
  EXPECT_EQ(get(this->store(), "fine"), std::nullopt);
  this->put(std::string(kMaxKeyBytes, 'k'), "v");
  EXPECT_EQ(scan(this->store(), "k").size(), 1u);
}

TYPED_TEST(StoreContract, SyncedDataSurvivesReopening) {
  this->put("a", "written, then synced");
  ASSERT_TRUE(this->store().sync().ok());
  WriteBatch batch;
  batch.put("b", "write and sync in one");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  batch.clear();
  batch.erase("a");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  for (int i = 0; i < 3; ++i) {
    this->harness_.reopen();
    EXPECT_EQ(scan(this->store(), ""), (Pairs{{"b", "write and sync in one"}}));
  }
}

TYPED_TEST(StoreContract, WriteSyncedMakesEarlierWritesDurable) {
  this->put("earlier", "1");
  WriteBatch batch;
  batch.put("later", "2");
  ASSERT_TRUE(this->store().writeSynced(batch).ok());
  this->put("not synced", "3");
  ASSERT_TRUE(this->store().writeSynced({}).ok());  // an empty one is a sync
  this->harness_.reopen();
  EXPECT_EQ(scan(this->store(), "").size(), 3u);
}

// Random histories against std::map, with keys from a tiny alphabet that has the awkward bytes.
TYPED_TEST(StoreContract, AgreesWithAMap) {
  const auto bytes = rc::gen::container<std::string>(rc::gen::element('\0', 'a', 'b', '\xfe', '\xff'));
  std::map<std::string, std::string> model;
  const bool held = rc::check([&] {
    const auto ops = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(rc::gen::pair(bytes, bytes));
    WriteBatch batch;
    for (const auto& [key, value] : ops) {
      if (value.starts_with('a')) {
        batch.erase(key);
        model.erase(key);
      } else {
        batch.put(key, value);
        model[key] = value;
      }
    }
    RC_ASSERT(this->store().write(batch).ok());
    const std::string prefix = *bytes, from = *bytes;
    Pairs expected;
    std::optional<KeyValue> expectedLast;
    for (const auto& [key, value] : model) {
      if (!key.starts_with(prefix)) continue;
      expectedLast = KeyValue(key, value);
      if (key >= from) expected.emplace_back(key, value);
    }
    RC_ASSERT(scan(this->store(), prefix, from) == expected);
    RC_ASSERT(last(this->store(), prefix) == expectedLast);
  });
  EXPECT_TRUE(held);
}

TEST(WriteBatchDeathTest, IsAValue) {
  WriteBatch a;
  EXPECT_TRUE(a.empty());
  a.put("k", "value");
  a.erase("gone");
  EXPECT_EQ(a.size(), 2u);
  EXPECT_EQ(a.bytes(), 10u);
  WriteBatch b = a;
  a.clear();
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.bytes(), 0u);
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(b.op(0).kind, WriteBatch::Kind::put);
  EXPECT_EQ(b.op(0).key, "k");
  EXPECT_EQ(b.op(0).value, "value");
  EXPECT_EQ(b.op(1).kind, WriteBatch::Kind::erase);
  EXPECT_EQ(b.op(1).key, "gone");
  EXPECT_NE(a, b);
  EXPECT_DEATH(b.op(2), "operation with this number");
}

TEST(Limits, EachOneIsNamed) {
  const auto message = [](const WriteBatch& batch) {
    Status status = checkLimits(batch);
    return status.ok() ? std::string() : status.error().message;
  };
  WriteBatch batch;
  for (std::size_t i = 0; i <= kMaxBatchOps; ++i) batch.erase("");
  EXPECT_NE(message(batch).find("operations"), std::string::npos);
  batch.clear();
  batch.put("k", std::string(kMaxValueBytes, 'v'));
  EXPECT_EQ(message(batch), "");
  batch.put("k", std::string(kMaxValueBytes, 'v'));
  EXPECT_NE(message(batch).find("bytes"), std::string::npos);
  batch.clear();
  batch.put("k", std::string(kMaxValueBytes + 1, 'v'));
  EXPECT_NE(message(batch).find("a value of"), std::string::npos);
}

TEST(PrefixEnd, IsTheFirstKeyBehind) {
  EXPECT_EQ(prefixEnd("a"), "b");
  EXPECT_EQ(prefixEnd("a\xff"), "b");
  EXPECT_EQ(prefixEnd("a\x7f"), "a\x80");
  EXPECT_EQ(prefixEnd("\0"s), "\x01");
  EXPECT_EQ(prefixEnd(""), std::nullopt);
  EXPECT_EQ(prefixEnd("\xff\xff"), std::nullopt);
}

}  // namespace
}  // namespace witan::store::contract_test
