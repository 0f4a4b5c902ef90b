// A log whose middle is damaged is not passed over in silence.
#include "store/wal_damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "store/rocks_store.h"
#include "tests/store/temp_folder.h"

namespace witan::store::wal_damage_test {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

constexpr int kWrites = 40;

std::string readAll(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a kill leaves of a store of kWrites synced writes, of so many bytes each.
class Killed {
 public:
  explicit Killed(bool preallocate, std::size_t bytes = 100) {
    auto store = openRocksStore(live_.path() / "s", {.preallocateLog = preallocate}).value();
    for (int i = 0; i < kWrites; ++i) {
      WriteBatch batch;
      batch.put("key" + std::to_string(i), std::string(bytes, static_cast<char>('a' + i % 26)));
      EXPECT_TRUE(store->writeSynced(batch).ok());
    }
    fs::copy(live_.path() / "s", dir(), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(dir()))
      if (entry.path().extension() == ".log") log_ = entry.path();
    bytes_ = readAll(log_);
    end_ = bytes_.find_last_not_of('\0') + 1;
  }
  fs::path dir() const { return live_.path() / "copy"; }
  const std::string& bytes() const { return bytes_; }
  std::size_t end() const { return end_; }
  void leave(const std::string& bytes) { std::ofstream(log_, std::ios::binary | std::ios::trunc) << bytes; }
  void turn(std::size_t at) {
    std::string turned = bytes_;
    turned[at] = static_cast<char>(turned[at] ^ 0x40);
    leave(turned);
  }

 private:
  TempFolder live_;
  fs::path log_;
  std::string bytes_;
  std::size_t end_ = 0;
};

TEST(WalDamage, AWholeLogHasNone) {
  for (const bool preallocate : {true, false}) {
    Killed killed(preallocate, 3000);  // several blocks
    EXPECT_FALSE(findWalDamage(killed.dir()).value().has_value());
  }
}

// A kill while a memory table is written out: the old log still ends in the zeroes that were laid out for it.
TEST(WalDamage, TheNextLogStandsBehindNoDamage) {
  Killed killed(true);
  for (const auto& entry : fs::directory_iterator(killed.dir()))
    if (entry.path().extension() == ".log") fs::copy(entry.path(), killed.dir() / "900000.log");
  EXPECT_FALSE(findWalDamage(killed.dir()).value().has_value());
  killed.turn(killed.end() / 2);
  EXPECT_TRUE(findWalDamage(killed.dir()).value().has_value());
}

// Pages that did not reach the disk, with later ones that did.
TEST(WalDamage, AHoleIsDamage) {
  Killed killed(true, 3000);
  std::string bytes = killed.bytes();
  std::fill_n(bytes.begin() + 40'000, 40'000, '\0');
  killed.leave(bytes);
  ASSERT_TRUE(findWalDamage(killed.dir()).value().has_value());
}

TEST(WalDamage, ATornEndIsNone) {
  for (const bool preallocate : {true, false}) {
    Killed killed(preallocate);
    for (std::size_t cut = killed.end() - 1; cut > killed.end() - 100; cut -= 7) {
      killed.leave(killed.bytes().substr(0, cut));
      EXPECT_FALSE(findWalDamage(killed.dir()).value().has_value()) << cut;
    }
    killed.turn(killed.end() - 5);  // of the last write
    EXPECT_FALSE(findWalDamage(killed.dir()).value().has_value());
  }
}

// Header or payload, length or type: whatever byte it is, what stands behind is found.
TEST(WalDamage, ATurnedBitAnywhereBeforeTheLastWriteIsFound) {
  Killed killed(false);
  for (std::size_t at = 0; at < killed.end() / 2; at += 3) {
    killed.turn(at);
    const auto found = findWalDamage(killed.dir()).value();
    ASSERT_TRUE(found.has_value()) << at;
    EXPECT_LE(found->at, at);
    EXPECT_LE(at - found->at, 200u) << "the record in which the bit is";
    EXPECT_GE(found->behind, kWrites / 2u - 1);
    EXPECT_LT(found->behind, static_cast<std::uint64_t>(kWrites));
  }
}

// Fragments of the damaged write itself are no writes behind it.
TEST(WalDamage, TheRestOfATornWriteIsNoWrite) {
  Killed killed(false, 100'000);  // each write is in four blocks
  const std::size_t last = killed.end() - 90'000;
  killed.turn(last);
  EXPECT_FALSE(findWalDamage(killed.dir()).value().has_value());
  killed.turn(last - 100'000);
  const auto found = findWalDamage(killed.dir()).value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->behind, 1u);
}

TEST(WalDamage, OpeningKeepsTheLogAndSaysSoOnce) {
  Killed killed(false);
  killed.turn(killed.end() / 2);
  const std::string damaged = killed.bytes();
  for (int opened = 0; opened < 2; ++opened) {
    auto store = openRocksStore(killed.dir());
    ASSERT_TRUE(store.ok()) << store.error().message;
    const auto kept = keptDamage(killed.dir());
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_NE(kept[0].find("is damaged at byte"), std::string::npos) << kept[0];
    EXPECT_NE(kept[0].find("whole writes stand behind"), std::string::npos) << kept[0];
  }
  std::size_t logs = 0;
  for (const auto& entry : fs::directory_iterator(killed.dir())) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("damaged-") || !name.ends_with(".log")) continue;
    ++logs;
    EXPECT_EQ(readAll(entry.path()).size(), damaged.size());
  }
  EXPECT_EQ(logs, 1u);
}

// Looking takes nobody's lock away.
TEST(WalDamage, AStoreThatIsOpenStaysLocked) {
  TempFolder folder;
  auto store = openRocksStore(folder.path() / "s");
  ASSERT_TRUE(store.ok());
  for (int i = 0; i < 2; ++i) {
    const auto second = openRocksStore(folder.path() / "s");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::conflict) << second.error().message;
  }
}

}  // namespace
}  // namespace witan::store::wal_damage_test
