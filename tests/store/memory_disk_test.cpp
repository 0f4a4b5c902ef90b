// What a power loss leaves of files.
#include "store/testing/memory_disk.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace witan::store::memory_disk_test {
namespace {

using Content = MemoryDisk::Content;

MemoryDisk::FilePtr create(MemoryDisk& disk, std::string_view name, std::string_view bytes = {}) {
  auto file = disk.create(name);
  EXPECT_TRUE(file.ok());
  EXPECT_TRUE(bytes.empty() || disk.append(*file, bytes).ok());
  return *file;
}

void syncAll(MemoryDisk& disk, const MemoryDisk::FilePtr& file) {
  ASSERT_TRUE(disk.sync(file).ok());
  ASSERT_TRUE(disk.syncFolder().ok());
}

TEST(MemoryDisk, ReadsWhatWasWritten) {
  MemoryDisk disk;
  auto file = create(disk, "a", "hello");
  ASSERT_TRUE(disk.append(file, " you").ok());
  EXPECT_EQ(disk.size(file), 9u);
  EXPECT_EQ(*disk.sizeOf("a"), 9u);
  char out[16];
  EXPECT_EQ(*disk.read(file, 6, 16, out), 3u);
  EXPECT_EQ(std::string(out, 3), "you");
  EXPECT_EQ(*disk.read(file, 99, 16, out), 0u);
  EXPECT_FALSE(disk.exists("b"));
  EXPECT_EQ(disk.open("b").error().code, ErrorCode::notFound);
  EXPECT_EQ(disk.remove("b").error().code, ErrorCode::notFound);
  EXPECT_EQ(disk.rename("b", "c").error().code, ErrorCode::notFound);
  EXPECT_EQ(disk.sizeOf("b").error().code, ErrorCode::notFound);
  create(disk, "0");
  EXPECT_EQ(*disk.names(), (std::vector<std::string>{"0", "a"}));
}

TEST(MemoryDisk, BytesNeedASyncOfTheFileAndNamesOneOfTheFolder) {
  MemoryDisk disk;
  create(disk, "nothing synced", "x");
  ASSERT_TRUE(disk.sync(create(disk, "bytes synced", "x")).ok());
  ASSERT_TRUE(disk.crash({.upTo = 0, .tearLast = {}}) == false);
  EXPECT_EQ(disk.visible(), Content{});

  create(disk, "name synced", "x");
  auto file = create(disk, "both", "x");
  syncAll(disk, file);
  ASSERT_TRUE(disk.append(file, "y").ok());
  EXPECT_EQ(disk.durable(), (Content{{"both", "x"}, {"name synced", ""}}));
  EXPECT_EQ(disk.visible(), (Content{{"both", "xy"}, {"name synced", "x"}}));
  disk.crash({.upTo = 0, .tearLast = {}});
  EXPECT_EQ(disk.visible(), (Content{{"both", "x"}, {"name synced", ""}}));
  EXPECT_EQ(disk.durable(), disk.visible());
}

TEST(MemoryDisk, ACrashKeepsWhatItIsToldInOrder) {
  const std::vector<Content> expected = {
      {{"a", "1"}}, {{"a", "12"}}, {{"a", "12"}, {"b", ""}}, {{"a", "12"}, {"b", "3"}}, {{"b", "12"}}, {}};
  for (std::uint64_t keep = 0; keep < expected.size(); ++keep) {
    MemoryDisk disk;
    auto a = create(disk, "a", "1");
    syncAll(disk, a);
    const std::uint64_t begin = disk.position();
    ASSERT_TRUE(disk.append(a, "2").ok());
    create(disk, "b", "3");
    ASSERT_TRUE(disk.rename("a", "b").ok());
    ASSERT_TRUE(disk.remove("b").ok());
    EXPECT_EQ(disk.position(), begin + 5);
    EXPECT_EQ(disk.visible(), Content{});
    disk.crash({.upTo = begin + keep, .tearLast = {}});
    EXPECT_EQ(disk.visible(), expected[keep]) << keep;
  }
}

TEST(MemoryDisk, OnlyAnAppendIsTorn) {
  for (std::size_t bytes = 0; bytes <= 4; ++bytes) {
    MemoryDisk disk;
    syncAll(disk, create(disk, "a", "12"));
    ASSERT_TRUE(disk.append(*disk.open("a"), "34").ok());
    ASSERT_TRUE(disk.append(*disk.open("a"), "567").ok());
    EXPECT_EQ(disk.crash({.tearLast = bytes}), bytes < 3);
    EXPECT_EQ(disk.visible(), (Content{{"a", std::string("1234567").substr(0, std::min<std::size_t>(7, 4 + bytes))}}));
  }
  MemoryDisk disk;
  syncAll(disk, create(disk, "a", "12"));
  EXPECT_FALSE(disk.crash({.tearLast = 0})) << "what is durable is not torn";
  create(disk, "b");
  EXPECT_FALSE(disk.crash({.tearLast = 0})) << "a name is not torn";
  EXPECT_EQ(disk.visible(), (Content{{"a", "12"}, {"b", ""}}));
}

TEST(MemoryDisk, AScatteringCrashReordersFilesButNotWhatIsInThem) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    MemoryDisk disk;
    auto a = create(disk, "a"), b = create(disk, "b");
    ASSERT_TRUE(disk.syncFolder().ok());
    for (const char* bytes : {"1", "2"}) {
      for (const auto& file : {a, b}) ASSERT_TRUE(disk.append(file, bytes).ok());
    }
    ASSERT_TRUE(disk.remove("b").ok());
    disk.crash({.upTo = 0, .tearLast = {}, .scatter = seed});
    std::string all;
    for (const auto& [name, bytes] : disk.visible()) all += name + "=" + bytes + " ";
    seen.insert(all);
  }
  std::set<std::string> expected;
  for (const char* sizeA : {"", "1", "12"}) {
    for (const char* fileB : {"b= ", "b=1 ", "b=12 ", ""}) expected.insert("a=" + std::string(sizeA) + " " + fileB);
  }
  EXPECT_EQ(seen, expected);
}

TEST(MemoryDisk, ThePowerGoesAtTheChosenCall) {
  for (std::uint64_t n = 0; n < 4; ++n) {
    MemoryDisk disk;
    disk.crashAtCall(n);
    auto file = disk.create("a");
    EXPECT_EQ(file.ok(), n > 0);
    EXPECT_EQ(file.ok() && disk.append(*file, "1").ok(), n > 1);
    EXPECT_EQ(file.ok() && disk.sync(*file).ok(), n > 2);
    EXPECT_FALSE(disk.syncFolder().ok());
    EXPECT_EQ(disk.changes(), n);
    EXPECT_FALSE(disk.hasPower());
    EXPECT_FALSE(disk.names().ok());
    EXPECT_FALSE(disk.open("a").ok());
    EXPECT_FALSE(disk.exists("a"));
    disk.crash({.tearLast = {}});
    const std::vector<Content> expected = {{}, {{"a", ""}}, {{"a", "1"}}, {{"a", "1"}}};
    EXPECT_EQ(disk.visible(), expected[n]);
    EXPECT_TRUE(disk.create("b").ok());
  }
}

TEST(MemoryDisk, ALyingDiskLosesWhatItSaidItHad) {
  MemoryDisk disk;
  disk.lieAboutSyncs(true);
  syncAll(disk, create(disk, "a", "1"));
  disk.crash({.upTo = 0, .tearLast = {}});
  EXPECT_EQ(disk.visible(), Content{});
}

TEST(MemoryDisk, BecomesWhatItWas) {
  MemoryDisk disk;
  create(disk, "old", "1");
  disk.powerOff();
  disk.become({{"new", "2"}});
  EXPECT_TRUE(disk.hasPower());
  EXPECT_EQ(disk.durable(), (Content{{"new", "2"}}));
  EXPECT_EQ(disk.visible(), disk.durable());
}

TEST(MemoryDisk, EveryCallIsTraced) {
  MemoryDisk disk;
  std::vector<std::string> calls;
  disk.trace([&](std::string_view call) { calls.emplace_back(call); });
  auto file = create(disk, "a", "12");
  syncAll(disk, file);
  char out[2];
  ASSERT_TRUE(disk.read(file, 1, 2, out).ok());
  EXPECT_EQ(calls, (std::vector<std::string>{"create a 0 0", "append a 0 2", "sync a 0 0", "sync the folder 0 0",
                                             "read a 1 2"}));
}

}  // namespace
}  // namespace witan::store::memory_disk_test
