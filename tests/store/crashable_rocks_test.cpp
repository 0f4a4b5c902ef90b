// What only RocksDB on a disk in memory can do: die in the midst of its own work, and come back. That it does the same
// twice, and nothing by itself.
#include "store/testing/crashable_rocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/seams.h"

namespace witan::store::crashable_rocks_test {
namespace {

constexpr CrashableRocksOptions kTiny{.flushBytes = 400};
constexpr int kBatches = 60;

std::string keyOf(int n) { return "key" + std::to_string(1000 + n); }

// Batch n: counts in "n", a key of its own, and some that are overwritten and erased again and again.
WriteBatch batchOf(int n) {
  WriteBatch batch;
  batch.put("n", std::to_string(n));
  batch.put(keyOf(n), std::string(40 + n % 50, static_cast<char>('a' + n % 26)));
  batch.put("changing" + std::to_string(n % 7), std::to_string(n));
  if (n % 3 == 0) batch.erase("changing" + std::to_string((n + 3) % 7));
  return batch;
}

// Writes the batches from `from` on, each third one synced. Returns the last that was acknowledged as durable.
int writeOn(CrashableStore& store, int from) {
  int durable = 0;
  for (int n = from; n <= kBatches; ++n) {
    const bool synced = n % 3 == 0;
    if (!(synced ? store.writeSynced(batchOf(n)) : store.write(batchOf(n))).ok()) break;
    if (synced) durable = n;
  }
  return durable;
}

// S4: what is there is the first so many batches. Returns how many; -1 and why in `wrong` when not.
int prefixIn(const CrashableStore& store, std::string& wrong) {
  const auto found = store.get("n");
  if (!found.ok()) {
    wrong = found.error().message;
    return -1;
  }
  const int count = *found ? std::stoi(**found) : 0;
  std::map<std::string, std::string> expected, actual;
  for (int n = 1; n <= count; ++n) {
    const WriteBatch batch = batchOf(n);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const WriteBatch::Op op = batch.op(i);
      if (op.kind == WriteBatch::Kind::put) {
        expected[std::string(op.key)] = op.value;
      } else {
        expected.erase(std::string(op.key));
      }
    }
  }
  const Status scanned = store.scan("", "", [&](std::string_view key, std::string_view value) {
    actual.emplace(key, value);
    return true;
  });
  if (!scanned.ok()) wrong = scanned.error().message;
  if (scanned.ok() && actual != expected) wrong = "not the first " + std::to_string(count) + " batches";
  return wrong.empty() ? count : -1;
}

CrashPlan planOf(std::uint64_t n) {
  CrashPlan plan{.keepUnsynced = n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : SIZE_MAX, .tearLastValue = {}};
  if (n % 4 == 1) plan.tearLastValue = n % 17;
  if (n % 2 == 1) plan.scatter = n + 1;
  return plan;
}

// The power goes at each call to the disk in turn. Empty, or the first thing that was lost.
std::string crashAtEveryDiskCall(bool lie, std::uint64_t& calls) {
  for (std::uint64_t n = 0;; ++n) {
    CrashableRocks store(kTiny);
    store.disk().lieAboutSyncs(lie);
    store.crashAtDiskCall(n);
    const int durable = writeOn(store, 1);
    if (!store.struck()) {
      calls = n;
      return {};
    }
    store.disk().lieAboutSyncs(false);
    const std::string where = "at call " + std::to_string(n) + ": ";
    store.crash(planOf(n));
    std::string wrong;
    const int found = prefixIn(store, wrong);
    if (found < 0) return where + wrong;
    if (found < durable)
      return where + std::to_string(durable) + " were durable, " + std::to_string(found) + " are left";
    if (found < kBatches && writeOn(store, found + 1) != kBatches)
      return where + "it could not go on from " + std::to_string(found);
    store.crash();
    if (prefixIn(store, wrong) != kBatches) return where + "after going on: " + wrong;
  }
}

TEST(CrashableRocks, CrashAtEveryDiskCallKeepsWhatWasSynced) {
  std::uint64_t calls = 0;
  EXPECT_EQ(crashAtEveryDiskCall(false, calls), "");
  EXPECT_GT(calls, 200u) << "there are flushes and compactions among them";
}

// Un-synced records in two logs, of which the disk keeps what it likes.
TEST(CrashableRocks, LogsDoNotOvertakeEachOther) {
  std::set<int> found;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    CrashableRocks store({.flushBytes = 1000, .jobDelay = 1000});
    for (int n = 1; n <= 20; ++n) ASSERT_TRUE(store.write(batchOf(n)).ok());
    store.crash({.keepUnsynced = 0, .tearLastValue = {}, .scatter = seed});
    std::string wrong;
    found.insert(prefixIn(store, wrong));
    ASSERT_EQ(wrong, "");
  }
  EXPECT_GT(found.size(), 5u) << "so much of the newer log";
  EXPECT_GT(*found.begin(), 5) << "and the older one whole";
}

TEST(CrashableRocks, ADiskThatLiesAboutSyncsIsNoticed) {
  std::uint64_t calls = 0;
  EXPECT_NE(crashAtEveryDiskCall(true, calls), "");
}

TEST(CrashableRocks, CrashAtEveryDiskCallOfAnOpening) {
  std::uint64_t interrupted = 0;
  for (std::uint64_t n = 0; n < 60; ++n) {
    CrashableRocks store(kTiny);
    ASSERT_EQ(writeOn(store, 1), kBatches);
    const std::uint64_t before = store.disk().changes();
    store.crashWhileOpening(n);
    store.crash(planOf(n));
    ASSERT_FALSE(store.struck());
    if (store.disk().changes() - before > n) ++interrupted;
    std::string wrong;
    EXPECT_EQ(prefixIn(store, wrong), kBatches) << wrong << " at call " << n;
  }
  EXPECT_GT(interrupted, 20u);
}

TEST(CrashableRocks, ATornLogLosesTheBatchInItsTear) {
  for (std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{30}}) {
    CrashableRocks store;
    ASSERT_TRUE(store.writeSynced(batchOf(1)).ok());
    for (int n = 2; n <= 4; ++n) ASSERT_TRUE(store.write(batchOf(n)).ok());
    const CrashReport report = store.crash({.keepUnsynced = 2, .tearLastValue = bytes});
    EXPECT_EQ(report, (CrashReport{.kept = 1, .lost = 2, .torn = true}));
    std::string wrong;
    EXPECT_EQ(prefixIn(store, wrong), 2) << wrong;
  }
  CrashableRocks store;
  ASSERT_TRUE(store.writeSynced(batchOf(1)).ok());
  EXPECT_FALSE(store.crash({.keepUnsynced = SIZE_MAX, .tearLastValue = 0}).torn) << "nothing un-synced is there";
}

// Everything that may happen to a store, chosen by a seed.
struct Story {
  std::vector<std::string> calls;  // to the disk
  std::string content;
  MemoryDisk::Content files;
};

Story storyOf(std::uint64_t seed) {
  Story story;
  CrashableRocks store(kTiny);
  store.disk().trace([&](std::string_view call) { story.calls.emplace_back(call); });
  SeededRandom random(seed);
  auto image = store.image();
  for (int step = 0; step < 400; ++step) {
    const std::uint64_t what = random.below(100);
    if (what < 60) {
      (void)store.write(batchOf(static_cast<int>(random.below(500))));
    } else if (what < 90) {
      (void)store.writeSynced(batchOf(static_cast<int>(random.below(500))));
    } else if (what < 94) {
      (void)store.get(keyOf(static_cast<int>(random.below(500))));
    } else if (what < 95) {
      (void)store.rot(random.next(), random.next());
    } else if (what < 96) {
      image = store.image();
    } else if (what < 97) {
      store.restoreImage(*image);
    } else if (what < 98) {
      store.crashAtDiskCall(random.below(50));
    } else {
      store.crash({.keepUnsynced = random.below(4), .tearLastValue = random.below(30), .scatter = random.below(2)});
    }
  }
  store.reopen();
  (void)store.scan("", "", [&](std::string_view key, std::string_view value) {
    story.content += std::string(key) + "=" + std::string(value) + "\n";
    return true;
  });
  story.files = store.disk().visible();
  return story;
}

std::size_t differences(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i];
  return count;
}

TEST(CrashableRocks, TheSameHappensTwice) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Story one = storyOf(seed);
    Story two;
    std::thread([&] { two = storyOf(seed); }).join();  // where RocksDB's thread-local chance is another
    EXPECT_EQ(one.content, two.content);
    for (std::size_t i = 0; i < std::min(one.calls.size(), two.calls.size()); ++i) {
      ASSERT_EQ(one.calls[i], two.calls[i]) << "call " << i;
    }
    ASSERT_EQ(one.calls.size(), two.calls.size());
    EXPECT_GT(one.calls.size(), 1000u);
    EXPECT_NE(one.calls, storyOf(seed + 100).calls);
    ASSERT_EQ(one.files.size(), two.files.size());
    for (auto a = one.files.cbegin(), b = two.files.cbegin(); a != one.files.cend(); ++a, ++b) {
      EXPECT_EQ(a->first, b->first);
      ASSERT_EQ(a->second.size(), b->second.size()) << a->first;
      // RocksDB's identity of the opening, and the checksums over it: once in a table, once for each in a manifest.
      std::size_t allowed = a->first.ends_with(".sst") ? 32 : 0;
      if (a->first.find("MANIFEST") != std::string::npos) allowed = 32 * one.files.size();
      EXPECT_LE(differences(a->second, b->second), allowed) << a->first;
    }
  }
}

std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(CrashableRocks, StartsNoThread) {
  const std::ptrdiff_t before = threads();
  CrashableRocks first;
  const std::ptrdiff_t after = threads();
  EXPECT_LE(after, before + 1) << "RocksDB's one for the whole process, which has nothing to do";
  for (int i = 0; i < 5; ++i) {
    CrashableRocks store(kTiny);
    int elsewhere = 0;
    store.disk().trace(
        [&, here = std::this_thread::get_id()](auto) { elsewhere += std::this_thread::get_id() != here; });
    EXPECT_EQ(writeOn(store, 1), kBatches);
    EXPECT_EQ(threads(), after);
    store.crash();
    store.reopen();
    EXPECT_EQ(threads(), after);
    EXPECT_EQ(elsewhere, 0);
  }
}

TEST(CrashableRocks, WhatCannotBeOpenedAgainSaysWhy) {
  CrashableRocks store;
  ASSERT_TRUE(store.writeSynced(batchOf(1)).ok());
  ASSERT_TRUE(store.disk().remove("/store/CURRENT").ok());
  ASSERT_TRUE(store.disk().syncFolder().ok());
  store.crash();
  EXPECT_TRUE(store.struck());
  for (const Status& status : {Status(store.get("n").error()), store.write(batchOf(2)), store.sync()}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::corrupt) << status.error().message;
    EXPECT_NE(status.error().message.find("/store"), std::string::npos) << status.error().message;
  }
  EXPECT_FALSE(store.snapshot()->get("n").ok());
  EXPECT_EQ(store.rot(0, 0), std::nullopt);
  store.crash();
  EXPECT_TRUE(store.struck());
  store.wipe();
  EXPECT_TRUE(store.writeSynced(batchOf(1)).ok());
}

}  // namespace
}  // namespace witan::store::crashable_rocks_test
