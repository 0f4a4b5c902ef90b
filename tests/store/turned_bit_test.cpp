// A turned bit in a file that RocksDB keeps for long: opening or reading names the file, or everything is there. Never
// less in silence, and never a process that is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <string>

#include "store/rocks_files.h"
#include "store/rocks_store.h"
#include "store/table_damage.h"
#include "store/wal_damage.h"
#include "tests/store/temp_folder.h"

namespace witan::store::turned_bit_test {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::HasSubstr;

std::string readAll(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void writeAll(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

struct TurnedBit : ::testing::Test {
  // Each opening but the first writes what the log before it had to a table.
  void SetUp() override {
    for (int opening = 0; opening < 3; ++opening) {
      auto store = openRocksStore(good).value();
      for (int i = 0; i < 8; ++i) {
        WriteBatch batch;
        batch.put("key" + std::to_string(keys++), std::string(60, static_cast<char>('a' + i)));
        ASSERT_TRUE(store->writeSynced(batch).ok());
      }
    }
    for (const auto& entry : fs::directory_iterator(good)) {
      if (entry.path().extension() == ".sst") table = entry.path().filename();
      if (entry.path().filename().string().starts_with("MANIFEST")) manifest = entry.path().filename();
    }
    ASSERT_FALSE(table.empty() || manifest.empty());
  }
  void turn(const fs::path& file, std::size_t at, int bit) {
    fs::remove_all(bad);
    fs::copy(good, bad);
    std::string bytes = readAll(bad / file);
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
    writeAll(bad / file, bytes);
  }
  Status opensAndReads() const {
    WITAN_TRY(store, openRocksStore(bad));
    int seen = 0;
    WITAN_DO(store->scan("", "", [&](auto, auto) { return ++seen > 0; }));
    EXPECT_EQ(seen, keys) << "fewer, and nothing was said";
    return okStatus();
  }
  // Whether it was noticed.
  bool noticed(const fs::path& file, std::size_t at, int bit) {
    SCOPED_TRACE(file.string() + " byte " + std::to_string(at) + " bit " + std::to_string(bit));
    turn(file, at, bit);
    const Status done = opensAndReads();
    if (done.ok()) return false;
    EXPECT_EQ(done.error().code, ErrorCode::corrupt) << done.error().message;
    EXPECT_THAT(done.error().message, HasSubstr(file.string()));
    return true;
  }

  TempFolder folder;
  const fs::path good = folder.path() / "good", bad = folder.path() / "bad";
  fs::path table, manifest;
  int keys = 0;
};

TEST_F(TurnedBit, AnywhereInTheManifestIsNoticed) {
  const std::size_t size = fs::file_size(good / manifest);
  for (std::size_t at = 0; at < size; ++at)
    for (const int bit : {0, 7}) EXPECT_TRUE(noticed(manifest, at, bit)) << at;
}

// Of what only later reads want (filters, padding) opening says nothing, and the tables are searched.
TEST_F(TurnedBit, AnywhereInATableIsNoticedOrTakesNothing) {
  const std::size_t size = fs::file_size(good / table), ends = size - 250;
  std::size_t found = 0;
  for (std::size_t at = 0; at < size; at += at < ends ? 7 : 1) found += noticed(table, at, 7) ? 1 : 0;
  EXPECT_GT(found, 200u);
}

TEST_F(TurnedBit, InATableIsFoundBySearchingTheTables) {
  EXPECT_TRUE(findTableDamage(good).empty());
  for (const std::size_t at : {std::size_t{5}, std::size_t{150}, fs::file_size(good / table) - 3}) {
    turn(table, at, 3);
    const auto found = findTableDamage(bad);
    ASSERT_EQ(found.size(), 1u) << at;
    EXPECT_THAT(found[0], HasSubstr((bad / table).string()));
    EXPECT_THAT(found[0], HasSubstr("Corruption: "));
  }
}

// What a crash leaves of a manifest's last record is no damage.
TEST_F(TurnedBit, ATornManifestIsNone) {
  const std::string whole = readAll(good / manifest);
  for (std::size_t size = whole.size() - 1; size > whole.size() - 20; --size) {
    writeAll(good / manifest, whole.substr(0, size));
    EXPECT_TRUE(checkManifestEnd(good).ok()) << size;
  }
}

// A part is written, and the next part fails: the error is of that.
TEST(FullDisk, TheReasonIsTold) {
  TempFolder folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  errno = 0;
  const Status done = writeDurably(folder.path() / "file", std::string(20, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, previous);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("File too large"));
}

}  // namespace
}  // namespace witan::store::turned_bit_test
