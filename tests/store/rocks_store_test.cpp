// What only the store on disk can do: refuse a second opener, notice damage, survive a torn log.
#include "store/rocks_store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/store/temp_folder.h"

namespace witan::store::rocks_store_test {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

std::unique_ptr<Store> openOrFail(const fs::path& dir, const RocksOptions& options = {}) {
  auto opened = openRocksStore(dir, options);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened.ok() ? std::move(opened).value() : nullptr;
}

// The error of opening `dir`; the test fails when it opens.
Error openError(const fs::path& dir, const RocksOptions& options = {}) {
  auto opened = openRocksStore(dir, options);
  EXPECT_FALSE(opened.ok());
  if (opened.ok()) return {};
  EXPECT_NE(opened.error().message.find(dir.string()), std::string::npos) << opened.error().message;
  return opened.error();
}

void put(Store& store, std::string_view key, std::string_view value, bool synced = true) {
  WriteBatch batch;
  batch.put(key, value);
  ASSERT_TRUE((synced ? store.writeSynced(batch) : store.write(batch)).ok());
}

std::string readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::vector<fs::path> filesLike(const fs::path& dir, std::string_view part) {
  std::set<fs::path> found;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().filename().string().find(part) != std::string::npos) found.insert(entry.path());
  }
  return {found.begin(), found.end()};
}

// A closed store with a table file, a log and 100 keys.
void makeStore(const fs::path& dir) {
  auto store = openOrFail(dir);
  for (int i = 0; i < 50; ++i) put(*store, "key" + std::to_string(i), std::string(100, 'v'));
  store.reset();
  store = openOrFail(dir);  // recovery writes what was in the log to a table file
  for (int i = 50; i < 100; ++i) put(*store, "key" + std::to_string(i), std::string(100, 'w'));
}

TEST(RocksStore, CreatesItsFolderOnlyWhenAsked) {
  TempFolder folder;
  const fs::path dir = folder.path() / "a" / "b";
  EXPECT_EQ(openError(dir, {.createIfMissing = false}).code, ErrorCode::notFound);
  EXPECT_FALSE(fs::exists(dir));
  EXPECT_EQ(openError(folder.path(), {.createIfMissing = false}).code, ErrorCode::notFound);
  put(*openOrFail(dir), "a", "1");
  EXPECT_EQ(*openOrFail(dir, {.createIfMissing = false})->get("a").value(), "1");
}

TEST(RocksStore, ASecondOpenIsRefused) {
  TempFolder folder;
  auto store = openOrFail(folder.path());
  const Error error = openError(folder.path());
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("already open"), std::string::npos);
  put(*store, "a", "1");
}

TEST(RocksStoreDeathTest, ASecondOpenByAnotherProcessIsRefused) {
  TempFolder folder;
  int opened[2], finish[2];
  ASSERT_EQ(pipe(opened), 0);
  ASSERT_EQ(pipe(finish), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(finish[1]);
    auto store = openRocksStore(folder.path());
    char byte = store.ok() ? '1' : '0';
    (void)!write(opened[1], &byte, 1);
    (void)!read(finish[0], &byte, 1);
    _exit(0);
  }
  close(opened[1]);
  char byte = '0';
  ASSERT_EQ(read(opened[0], &byte, 1), 1);
  EXPECT_EQ(byte, '1');
  const Error error = openError(folder.path());
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_NE(error.message.find("already open by another process"), std::string::npos) << error.message;
  close(finish[1]);
  waitpid(child, nullptr, 0);
  close(opened[0]);
  close(finish[0]);
  openOrFail(folder.path());
}

TEST(RocksStore, APathThatIsNoFolder) {
  TempFolder folder;
  writeFile(folder.path() / "file", "x");
  EXPECT_EQ(openError(folder.path() / "file").code, ErrorCode::invalidInput);
  EXPECT_EQ(openError(folder.path() / "file" / "below").code, ErrorCode::ioFailed);
}

TEST(RocksStore, AFolderThatCannotBeWritten) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  TempFolder folder;
  makeStore(folder.path());
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(openError(folder.path()).code, ErrorCode::ioFailed);
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST(RocksStore, ANewerFormatIsNamed) {
  TempFolder folder;
  makeStore(folder.path());
  writeFile(folder.path() / "WITAN_FORMAT", "witan store 2\n");
  const Error error = openError(folder.path());
  EXPECT_EQ(error.code, ErrorCode::invalidInput);
  EXPECT_NE(error.message.find("newer Witan (store format 2, this program reads 1)"), std::string::npos);
  for (const char* damaged : {"", "witan store 0\n", "witan store 2", "witan store 99999999999\n", "\xff\xff"}) {
    writeFile(folder.path() / "WITAN_FORMAT", damaged);
    EXPECT_EQ(openError(folder.path()).code, ErrorCode::corrupt) << damaged;
  }
  fs::remove(folder.path() / "WITAN_FORMAT");
  EXPECT_EQ(openError(folder.path()).code, ErrorCode::corrupt);
}

TEST(RocksStore, RemainsOfAStoreAreNotStartedAfresh) {
  TempFolder folder;
  makeStore(folder.path());
  fs::remove(folder.path() / "CURRENT");
  const Error error = openError(folder.path());
  EXPECT_EQ(error.code, ErrorCode::corrupt);
  EXPECT_NE(error.message.find("CURRENT is missing"), std::string::npos);
}

TEST(RocksStore, AnInterruptedCreationIsRepeated) {
  TempFolder folder;
  openOrFail(folder.path());
  for (const fs::path& path : filesLike(folder.path(), ".log")) fs::remove(path);
  fs::remove(folder.path() / "CURRENT");
  for (const fs::path& path : filesLike(folder.path(), "MANIFEST")) fs::remove(path);
  writeFile(folder.path() / "MANIFEST-000001", "half");
  put(*openOrFail(folder.path()), "a", "1");
}

TEST(RocksStore, FilesOfOthersAreLeftAlone) {
  TempFolder folder;
  writeFile(folder.path() / "notes.txt", "mine");
  writeFile(folder.path() / "garbage.sst", "mine too");
  makeStore(folder.path());
  openOrFail(folder.path());
  EXPECT_EQ(readFile(folder.path() / "notes.txt"), "mine");
  EXPECT_EQ(readFile(folder.path() / "garbage.sst"), "mine too");
}

// Each of the store's own files missing, empty, cut or replaced by noise: an error that says what, or (the log's tail,
// RocksDB's diary) an opened store; never a crash.
TEST(RocksStore, DamagedFilesGiveAnError) {
  TempFolder folder;
  const fs::path original = folder.path() / "original";
  makeStore(original);
  std::mt19937 random(20240607);
  int corruptErrors = 0;
  for (const char* part : {"CURRENT", "MANIFEST", ".sst", ".log", "IDENTITY", "OPTIONS", "LOCK"}) {
    ASSERT_FALSE(filesLike(original, part).empty()) << part;
    for (const fs::path& file : filesLike(original, part)) {
      const std::string content = readFile(file);
      for (int way = 0; way < 24; ++way) {
        const fs::path dir = folder.path() / "copy";
        fs::remove_all(dir);
        fs::copy(original, dir);
        const fs::path damaged = dir / file.filename();
        std::string bytes = content;
        if (way == 0) fs::remove(damaged);
        if (way == 1) bytes.clear();
        if (way == 2) bytes.resize(bytes.size() / 2);
        if (way == 3) bytes.assign(bytes.size() + 10, '\xff');
        if (way == 4) bytes.assign(bytes.size(), '\0');
        if (way == 5) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
        if (way > 5 && !bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
        if (way > 0) writeFile(damaged, bytes);
        auto opened = openRocksStore(dir);
        Status read = opened.ok() ? (*opened)->scan("", "", [](auto, auto) { return true; }) : Status(opened.error());
        if (read.ok()) continue;
        EXPECT_FALSE(read.error().message.empty());
        EXPECT_EQ(read.error().code, ErrorCode::corrupt) << file << " way " << way << ": " << read.error().message;
        ++corruptErrors;
      }
    }
  }
  EXPECT_GT(corruptErrors, 50);
}

TEST(RocksStore, ADamagedCurrentOrManifestIsCorrupt) {
  TempFolder folder;
  makeStore(folder.path());
  const std::string current = readFile(folder.path() / "CURRENT");
  for (const char* content : {"", "no newline", "MANIFEST-999999\n", "../../etc/passwd\n", "\n"}) {
    writeFile(folder.path() / "CURRENT", content);
    EXPECT_EQ(openError(folder.path()).code, ErrorCode::corrupt) << content;
  }
  writeFile(folder.path() / "CURRENT", current);
  const fs::path manifest = filesLike(folder.path(), "MANIFEST").back();
  writeFile(manifest, "garbage");
  EXPECT_EQ(openError(folder.path()).code, ErrorCode::corrupt);
}

// S5 with a real failure: the file-size limit of the process makes the log's write fail.
TEST(RocksStore, AFailedWriteClosesTheStoreForWriting) {
  for (bool preallocate : {true, false}) {
    TempFolder folder;
    auto store = openOrFail(folder.path(), {.preallocateLog = preallocate});
    put(*store, "before", "1");
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit tight = before;
    tight.rlim_cur = 2u << 20;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    WriteBatch big;
    big.put("big", std::string(4u << 20, 'x'));
    const Status failed = store->writeSynced(big);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, previous);

    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::ioFailed) << failed.error().message;
    WriteBatch small;
    small.put("after", "2");
    EXPECT_FALSE(store->write(small).ok()) << "although it would work now";
    EXPECT_FALSE(store->sync().ok());
    EXPECT_FALSE(store->writeSynced({}).ok());
    EXPECT_EQ(*store->get("before").value(), "1");
    store.reset();
    store = openOrFail(folder.path());
    EXPECT_EQ(*store->get("before").value(), "1");
    EXPECT_EQ(*store->get("after"), std::nullopt);
    put(*store, "after", "2");
  }
}

TEST(RocksStore, ManyMemtablesAndReopenings) {
  TempFolder folder;
  const RocksOptions small{.memtableBytes = 64 << 10, .blockCacheBytes = 64 << 10};
  for (int round = 0; round < 3; ++round) {
    auto store = openOrFail(folder.path(), small);
    for (int i = 0; i < 2000; ++i) put(*store, std::to_string(round * 10'000 + i), std::string(500, 'x'), i % 100 == 0);
    int keys = 0;
    ASSERT_TRUE(store->scan("", "", [&](auto, auto) { return ++keys > 0; }).ok());
    EXPECT_EQ(keys, 2000 * (round + 1));
  }
}

}  // namespace
}  // namespace witan::store::rocks_store_test
