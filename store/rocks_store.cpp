#include "store/rocks_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "store/rocks_database.h"
#include "store/rocks_files.h"
#include "store/table_damage.h"
#include "store/wal_damage.h"
#include "store/wal_file_system.h"

namespace witan::store {
namespace {

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

// LZ4 or Snappy when this RocksDB was built with it.
rocksdb::CompressionType compression() {
  const std::vector<rocksdb::CompressionType> available = rocksdb::GetSupportedCompressions();
  for (rocksdb::CompressionType type : {rocksdb::kLZ4Compression, rocksdb::kSnappyCompression}) {
    if (std::ranges::find(available, type) != available.end()) return type;
  }
  return rocksdb::kNoCompression;
}

// All reads, of the store (snapshot null) or of a snapshot.
class RocksReads {
 public:
  RocksReads(rocksdb::DB& db, const rocksdb::Snapshot* snapshot, const std::string& where)
      : db_(db), snapshot_(snapshot), where_(where) {}

  Result<std::optional<std::string>> get(std::string_view key) const {
    std::string value;
    const rocksdb::Status status = db_.Get(readOptions(), slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return rocksError(status, "reading from", where_);
    return std::optional<std::string>(std::move(value));
  }

  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const {
    Range range(*this, prefix);
    rocksdb::Iterator& it = *range.it;
    for (it.Seek(slice(std::max(prefix, from))); it.Valid(); it.Next()) {
      if (!visit(view(it.key()), view(it.value()))) return okStatus();
    }
    return check(it);
  }

  Result<std::optional<KeyValue>> last(std::string_view prefix) const {
    Range range(*this, prefix);
    rocksdb::Iterator& it = *range.it;
    it.SeekToLast();
    WITAN_DO(check(it));
    if (!it.Valid() || !view(it.key()).starts_with(prefix)) return std::optional<KeyValue>();
    return std::optional<KeyValue>(KeyValue(view(it.key()), view(it.value())));
  }

 private:
  // An iterator that ends where the prefix ends, with what it points to. A key not before the prefix and before its
  // end begins with it.
  struct Range {
    Range(const RocksReads& reads, std::string_view prefix) : end(prefixEnd(prefix)) {
      rocksdb::ReadOptions options = reads.readOptions();
      if (end) {
        endSlice = slice(*end);
        options.iterate_upper_bound = &endSlice;
      }
      it.reset(reads.db_.NewIterator(options));
    }
    Range(const Range&) = delete;
    std::optional<std::string> end;
    rocksdb::Slice endSlice;
    std::unique_ptr<rocksdb::Iterator> it;
  };

  rocksdb::ReadOptions readOptions() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_;
    return options;
  }
  Status check(const rocksdb::Iterator& it) const {
    return it.status().ok() ? okStatus() : Status(rocksError(it.status(), "reading from", where_));
  }

  rocksdb::DB& db_;
  const rocksdb::Snapshot* snapshot_;
  const std::string& where_;
};

class RocksSnapshot final : public Snapshot {
 public:
  RocksSnapshot(rocksdb::DB& db, const std::string& where, std::atomic<int>& count)
      : db_(db), snapshot_(db.GetSnapshot()), reads_(db, snapshot_, where), count_(count) {
    ++count_;
  }
  ~RocksSnapshot() override {
    db_.ReleaseSnapshot(snapshot_);
    --count_;
  }
  Result<std::optional<std::string>> get(std::string_view key) const override { return reads_.get(key); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return reads_.scan(prefix, from, visit);
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override { return reads_.last(prefix); }

 private:
  rocksdb::DB& db_;
  const rocksdb::Snapshot* snapshot_;
  RocksReads reads_;
  std::atomic<int>& count_;
};

class RocksStore final : public Store {
 public:
  RocksStore(std::shared_ptr<rocksdb::Env> env, std::unique_ptr<rocksdb::DB> db, std::string where)
      : env_(std::move(env)), db_(std::move(db)), where_(std::move(where)), reads_(*db_, nullptr, where_) {}
  ~RocksStore() override { WITAN_CHECK(snapshots_ == 0, "a store outlives its snapshots"); }

  Result<std::optional<std::string>> get(std::string_view key) const override { return reads_.get(key); }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    return reads_.scan(prefix, from, visit);
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override { return reads_.last(prefix); }
  std::unique_ptr<Snapshot> snapshot() const override {
    return std::make_unique<RocksSnapshot>(*db_, where_, snapshots_);
  }

  Status write(const WriteBatch& batch) override { return apply(batch, false); }
  Status writeSynced(const WriteBatch& batch) override { return batch.empty() ? sync() : apply(batch, true); }
  Status sync() override {
    WITAN_DO(stillOpen());
    return noteFailure(db_->FlushWAL(true), "syncing");
  }

 private:
  Status apply(const WriteBatch& batch, bool synced) {
    WITAN_DO(checkLimits(batch));
    WITAN_DO(stillOpen());
    if (batch.empty()) return okStatus();
    rocksdb::WriteBatch out(batch.bytes() + 16 * batch.size() + 32);
    rocksdb::Status status;
    for (std::size_t i = 0; i < batch.size() && status.ok(); ++i) {
      const WriteBatch::Op op = batch.op(i);
      status = op.kind == WriteBatch::Kind::put ? out.Put(slice(op.key), slice(op.value)) : out.Delete(slice(op.key));
    }
    rocksdb::WriteOptions options;
    options.sync = synced;
    if (status.ok()) status = db_->Write(options, &out);
    return noteFailure(status, "writing to");
  }

  Status stillOpen() const {
    if (!hasFailed_.load(std::memory_order_acquire)) return okStatus();
    std::lock_guard lock(mutex_);
    return *failure_;
  }

  Status noteFailure(const rocksdb::Status& status, const char* doing) {
    if (status.ok()) return okStatus();
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = rocksError(status, doing, where_);
    hasFailed_.store(true, std::memory_order_release);
    return *failure_;
  }

  std::shared_ptr<rocksdb::Env> env_;  // outlives db_
  std::unique_ptr<rocksdb::DB> db_;
  const std::string where_;
  RocksReads reads_;
  mutable std::atomic<int> snapshots_{0};
  std::atomic<bool> hasFailed_{false};  // S5
  mutable std::mutex mutex_;            // guards failure_
  std::optional<Error> failure_;
};

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

rocksdb::Options rocksOptions(const RocksOptions& options, rocksdb::Env* env) {
  rocksdb::Options result;
  result.env = env;
  result.create_if_missing = options.createIfMissing;
  result.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  result.paranoid_checks = true;
  result.write_buffer_size = options.memtableBytes;
  result.max_write_buffer_number = 3;
  result.max_total_wal_size = 4 * options.memtableBytes;
  result.max_background_jobs = 2;
  result.max_open_files = 256;
  result.compression = compression();
  result.max_manifest_file_size = std::uint64_t{16} << 20;
  // A failed write stays failed until reopening (S5): no recovery behind our back.
  result.max_bgerror_resume_count = 0;
  // No statistics thread.
  result.stats_dump_period_sec = 0;
  result.stats_persist_period_sec = 0;

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.blockCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

std::unique_ptr<Store> rocksStoreOver(std::shared_ptr<rocksdb::Env> env, std::unique_ptr<rocksdb::DB> db,
                                      std::string where) {
  return std::make_unique<RocksStore>(std::move(env), std::move(db), std::move(where));
}

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

#ifdef __SANITIZE_THREAD__
// Debian's RocksDB is not built with ThreadSanitizer, which therefore does not see its locks. Only reports with a frame
// inside it are dropped; this has to be in the program, so it sits where every user of RocksDB links it.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:librocksdb\n"; }
#endif
