// The write-ahead log after a crash: torn at any byte, or with a hole in the zero-filled stretch (S4).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "store/log_record.h"
#include "store/rocks_store.h"
#include "store/wal_file_system.h"
#include "tests/store/temp_folder.h"

namespace witan::store::wal_test {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using test::TempFolder;

constexpr int kWrites = 200;

std::string key(int i) { return "key" + std::to_string(1000 + i); }

// What a crash leaves of a store with kWrites batches in its log: a copy taken while it is open.
class CrashImage {
 public:
  using ValueBytes = std::size_t (*)(int i);

  explicit CrashImage(
      bool preallocate, ValueBytes valueBytes = [](int i) { return i % 37 * std::size_t{50}; })
      : valueBytes_(valueBytes) {
    auto store = openRocksStore(live(), {.preallocateLog = preallocate}).value();
    for (int i = 0; i < kWrites; ++i) {
      WriteBatch batch;
      batch.put(key(i), std::string(valueBytes_(i), 'v'));
      EXPECT_TRUE((i % 10 == 0 ? store->writeSynced(batch) : store->write(batch)).ok());
    }
    fs::copy(live(), folder_.path() / "image");
  }

  std::string log() const {
    std::ifstream in(logPath(folder_.path() / "image"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Opens a copy of the image whose log is `bytes`, and returns how many writes it shows; -1 if they are no prefix.
  int writesAfterReopening(const std::string& bytes) const {
    const fs::path dir = folder_.path() / "copy";
    fs::remove_all(dir);
    fs::copy(folder_.path() / "image", dir);
    std::ofstream(logPath(dir), std::ios::binary | std::ios::trunc) << bytes;
    auto opened = openRocksStore(dir);
    if (!opened.ok()) throw std::runtime_error(opened.error().message);
    int found = 0;
    bool inOrder = true;
    Status status = (*opened)->scan("", "", [&](std::string_view k, std::string_view v) {
      inOrder = inOrder && k == key(found) && v.size() == valueBytes_(found);
      ++found;
      return true;
    });
    EXPECT_TRUE(status.ok());
    return inOrder ? found : -1;
  }

 private:
  fs::path live() const { return folder_.path() / "live"; }
  static fs::path logPath(const fs::path& dir) {
    for (const auto& entry : fs::directory_iterator(dir)) {
      if (entry.path().extension() == ".log") return entry.path();
    }
    throw std::runtime_error("the store has no log");
  }

  TempFolder folder_;
  ValueBytes valueBytes_;
};

TEST(Wal, TheZeroFilledLogIsReadToItsEnd) {
  CrashImage image(true);
  EXPECT_EQ(image.log().size() % kZeroStretchBytes, 0u);
  EXPECT_EQ(image.writesAfterReopening(image.log()), kWrites);
  EXPECT_EQ(image.writesAfterReopening(image.log() + std::string(3'000'000, '\0')), kWrites);
}

TEST(Wal, AClosedLogHasNoZeroes) {
  TempFolder folder;
  auto store = openRocksStore(folder.path()).value();
  WriteBatch batch;
  batch.put("a", "1");
  ASSERT_TRUE(store->writeSynced(batch).ok());
  store.reset();
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".log") continue;
    EXPECT_LT(entry.file_size(), 100u);
  }
}

TEST(Wal, ATornTailLeavesAPrefix) {
  for (bool preallocate : {true, false}) {
    CrashImage image(preallocate);
    const std::string log = image.log();
    const std::size_t end = log.find_last_not_of('\0') + 1;
    int before = kWrites;
    for (std::size_t cut = end; cut + 1 > 0 && end - cut < 4000; cut -= 197) {
      std::string torn = log;
      if (preallocate) {
        std::fill(torn.begin() + static_cast<std::ptrdiff_t>(cut), torn.end(), '\0');
      } else {
        torn.resize(cut);
      }
      const int writes = image.writesAfterReopening(torn);
      EXPECT_GE(writes, 0) << "cut at " << cut;
      EXPECT_LE(writes, before) << "cut at " << cut;
      before = writes;
    }
    EXPECT_LT(before, kWrites) << "the cuts did cut";
  }
}

// Later records on the disk, earlier ones not: nothing behind the hole may be shown. RocksDB alone stops at a hole
// only when the next block begins inside a record, so here every block begins with one: 64 records of 512 bytes.
TEST(Wal, NothingBehindAHoleIsShown) {
  constexpr std::size_t kRecordBytes = 512;
  constexpr std::size_t kValueBytes =
      kRecordBytes - 7 - 12 - 1 - 1 - 7 - 2;  // record, batch, put, key and value headers
  CrashImage image(true, [](int) { return kValueBytes; });
  const std::string log = image.log();
  for (int lost : {0, 1, 20, 63, 64, 100}) {
    const std::size_t from = static_cast<std::size_t>(lost) * kRecordBytes;
    ASSERT_EQ(log.find(key(lost)), from + 7 + 12 + 1 + 1) << "the records lie where this test believes";
    const std::size_t to = (from / kWalBlockBytes + 1) * kWalBlockBytes;
    std::string holed = log;
    std::fill(holed.begin() + static_cast<std::ptrdiff_t>(from), holed.begin() + static_cast<std::ptrdiff_t>(to), '\0');
    ASSERT_NE(holed.find(key(static_cast<int>(to / kRecordBytes))), std::string::npos) << "there is something behind";
    EXPECT_EQ(image.writesAfterReopening(holed), lost);
  }
}

std::string record(std::size_t length, char type = 1) {
  return "crc."s + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + type + std::string(length, 'p');
}

TEST(WalEnd, IsTheFirstZeroHeader) {
  EXPECT_EQ(findWalEnd(std::string(kWalBlockBytes, '\0')), 0u);
  EXPECT_EQ(findWalEnd(record(10) + std::string(100, '\0')), 17u);
  EXPECT_EQ(findWalEnd(record(10) + record(300, 4) + std::string(7, '\0')), 17u + 307u);
  EXPECT_EQ(findWalEnd(record(10) + std::string(50, '\0') + record(10)), 17u);
}

TEST(WalEnd, IsNotWhereItCannotBeKnown) {
  EXPECT_EQ(findWalEnd(""), std::nullopt);
  EXPECT_EQ(findWalEnd(record(10)), std::nullopt);
  EXPECT_EQ(findWalEnd(record(10) + std::string(6, '\0')), std::nullopt) << "the padding of a block";
  EXPECT_EQ(findWalEnd(record(10).substr(0, 16) + std::string(0, '\0')), std::nullopt) << "longer than the block";
  EXPECT_EQ(findWalEnd(record(10, 7) + std::string(50, '\0')), std::nullopt) << "an unknown record";
  EXPECT_EQ(findWalEnd(record(5, 0) + std::string(50, '\0')), std::nullopt) << "type zero with a length";
  EXPECT_EQ(findWalEnd(std::string(kWalBlockBytes, '\xff')), std::nullopt);
}

}  // namespace
}  // namespace witan::store::wal_test
