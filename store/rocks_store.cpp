#include "store/rocks_store.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include "store/manifest_end.h"
#include "store/rocks_database.h"
#include "store/rocks_diary.h"
#include "store/rocks_files.h"
#include "store/table_damage.h"
#include "store/wal_damage.h"
#include "store/wal_file_system.h"

namespace witan::store {

namespace {

// Where somebody has the store open, its logs grow, and RocksDB is about to say who.
Status keepUnlessOpen(const std::filesystem::path& dir, rocksdb::Env& env) {
  rocksdb::FileLock* lock = nullptr;
  if (!env.LockFile((dir / "LOCK").string(), &lock).ok()) return okStatus();
  const Status kept = keepDamagedLog(dir);
  (void)env.UnlockFile(lock);
  return kept;
}

// Of a table that it cannot open, RocksDB may name the manifest only.
Error openError(const rocksdb::Status& status, const std::filesystem::path& dir) {
  Error error = rocksOpenError(status, dir);
  if (error.code != ErrorCode::corrupt) return error;
  if (auto tables = findTableDamage(dir); !tables.empty()) error.message = std::move(tables.front());
  return error;
}

}  // namespace

Result<std::unique_ptr<Store>> openRocksStore(const std::filesystem::path& dir, const RocksOptions& options) {
  WITAN_DO(prepareRocksFolder(dir, options.createIfMissing));
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(walFileSystem(options.preallocateLog));
  WITAN_DO(checkManifestEnd(dir));
  WITAN_DO(checkTableEnds(dir));
  WITAN_DO(keepUnlessOpen(dir, *env));
  rocksdb::DB* db = nullptr;
  rocksdb::Options opening = rocksOptions(options, env.get());
  opening.info_log = openDiary(dir);
  const rocksdb::Status status = rocksdb::DB::Open(opening, dir.string(), &db);
  if (!status.ok()) return openError(status, dir);
  std::unique_ptr<rocksdb::DB> owned(db);
  return rocksStoreOver(std::move(env), std::move(owned), dir.string());
}

}  // namespace witan::store
