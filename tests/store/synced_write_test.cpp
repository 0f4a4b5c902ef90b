// What writeSynced() of the store that nodes use leaves when the power goes right after it (S4 of store/store.h). The
// simulator's RocksDB syncs in a step of its own, so it does not look at this.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <string>

#include "store/rocks_database.h"
#include "store/testing/disk_file_system.h"
#include "store/wal_file_system.h"

namespace witan::store::synced_write_test {
namespace {

constexpr const char* kFolder = "/synced";

class Quiet final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

std::unique_ptr<Store> openOn(MemoryDisk& disk) {
  std::shared_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(walFileSystem(false, fileSystemOn(disk)));
  rocksdb::Options options = rocksOptions({}, env.get());
  options.info_log = std::make_shared<Quiet>();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, kFolder, &db);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return status.ok() ? rocksStoreOver(std::move(env), std::unique_ptr<rocksdb::DB>(db), kFolder) : nullptr;
}

// How many of `writes` are there after the power went.
int found(int writes, Status (Store::*write)(const WriteBatch&)) {
  MemoryDisk disk;
  auto store = openOn(disk);
  for (int i = 0; i < writes; ++i) {
    WriteBatch batch;
    batch.put("key" + std::to_string(i), "value");
    EXPECT_TRUE((store.get()->*write)(batch).ok());
  }
  disk.powerOff();
  store.reset();
  disk.crash({.upTo = 0});
  store = openOn(disk);
  int count = 0;
  EXPECT_TRUE(store->scan("key", "", [&](std::string_view, std::string_view) { return ++count > 0; }).ok());
  return count;
}

TEST(SyncedWrite, IsThereAfterThePowerWent) { EXPECT_EQ(found(5, &Store::writeSynced), 5); }

TEST(SyncedWrite, OneThatIsNotSyncedNeedNotBe) { EXPECT_EQ(found(5, &Store::write), 0); }

}  // namespace
}  // namespace witan::store::synced_write_test
