#include "store/testing/crashable_rocks.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <utility>

#include "store/rocks_database.h"
#include "store/rocks_files.h"
#include "store/testing/disk_file_system.h"
#include "store/testing/inline_env.h"
#include "store/wal_file_system.h"

namespace witan::store {
namespace {

constexpr const char* kFolder = "/store";

class NoLogger final : public rocksdb::Logger {
 public:
  NoLogger() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// As the durable store, but small, and without anything that depends on time, chance or a thread.
rocksdb::Options quietOptions(const CrashableRocksOptions& wanted, rocksdb::Env* env, bool create) {
  rocksdb::Options options = rocksOptions({.createIfMissing = create, .memtableBytes = std::size_t{64} << 20}, env);
  options.info_log = std::make_shared<NoLogger>();
  options.arena_block_size = 16 << 10;
  options.allow_concurrent_memtable_write = false;
  options.enable_write_thread_adaptive_yield = false;
  options.max_background_jobs = 1;
  options.max_file_opening_threads = 1;  // the caller's
  options.table_cache_numshardbits = 0;
  options.skip_stats_update_on_db_open = true;
  options.db_host_id = "";
  options.compression = rocksdb::kNoCompression;
  options.target_file_size_base = 4 * wanted.flushBytes;
  options.max_bytes_for_level_base = 16 * wanted.flushBytes;
  // Nobody waits for a background thread that is not there.
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1 << 20;
  options.soft_pending_compaction_bytes_limit = options.hard_pending_compaction_bytes_limit = 0;

  rocksdb::BlockBasedTableOptions table;
  // Never full: what is evicted depends on malloc's rounding.
  table.block_cache = rocksdb::NewLRUCache(std::size_t{1} << 40, 0);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.use_delta_encoding = false;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

class CrashableRocks::Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(MemoryDisk& disk, const CrashableRocksOptions& wanted, bool create) {
    auto env = std::make_shared<InlineEnv>(walFileSystem(false, fileSystemOn(disk)));
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(quietOptions(wanted, env.get(), create), kFolder, &db);
    if (!status.ok()) return rocksOpenError(status, kFolder);
    env->runJobs();
    return std::unique_ptr<Engine>(new Engine(std::move(env), *db));
  }

  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  std::uint64_t sequence() const { return db_.GetLatestSequenceNumber(); }
  void runJobs() { env_->runJobs(); }

  // Lets the next write begin a new memory table and a new log; the next jobs write the old one out.
  void beginFlush() {
    rocksdb::FlushOptions options;
    options.wait = false;
    options.allow_write_stall = true;
    (void)db_.Flush(options);  // if it fails, so does the next write
  }
  // Whether nothing waits to be written out.
  bool isFlushed() {
    std::uint64_t waiting = 1;
    return db_.GetIntProperty(rocksdb::DB::Properties::kNumImmutableMemTable, &waiting) && waiting == 0;
  }

 private:
  Engine(std::shared_ptr<InlineEnv> env, rocksdb::DB& db)
      : env_(env), db_(db), store_(rocksStoreOver(std::move(env), std::unique_ptr<rocksdb::DB>(&db), kFolder)) {}

  std::shared_ptr<InlineEnv> env_;
  rocksdb::DB& db_;  // store_ owns it
  std::unique_ptr<Store> store_;
};

class CrashableRocksSnapshot final : public Snapshot {
 public:
  // `inner` is null when the store is not open.
  CrashableRocksSnapshot(const CrashableRocks& store, std::unique_ptr<Snapshot> inner)
      : store_(store), count_(store), inner_(std::move(inner)) {}

  Result<std::optional<std::string>> get(std::string_view key) const override {
    WITAN_DO(store_.countRead());
    return inner_->get(key);
  }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    WITAN_DO(store_.countRead());
    return inner_->scan(prefix, from, visit);
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override {
    WITAN_DO(store_.countRead());
    return inner_->last(prefix);
  }

 private:
  const CrashableRocks& store_;
  CrashableRocks::SnapshotCount count_;
  std::unique_ptr<Snapshot> inner_;
};

CrashableRocks::CrashableRocks(const CrashableRocksOptions& options)
    : CrashableStore("RocksDB on a disk in memory"), options_(options) {
  open();
}

CrashableRocks::~CrashableRocks() { disk_.powerOff(); }

void CrashableRocks::close() {
  checkNoSnapshots();
  disk_.powerOff();  // what RocksDB does when it is closed does not count
  engine_.reset();
}

void CrashableRocks::open() {
  unsynced_.clear();
  unflushedBytes_ = 0;
  flush_.reset();
  resetFaults();
  if (crashWhileOpening_) {
    disk_.crashAtCall(*std::exchange(crashWhileOpening_, std::nullopt));
    engine_.reset();
    if (auto interrupted = Engine::open(disk_, options_, fresh_); interrupted.ok()) engine_ = std::move(*interrupted);
    close();
    disk_.crash({.upTo = 0});
  }
  Result<std::unique_ptr<Engine>> opened = Engine::open(disk_, options_, fresh_);
  if (!opened.ok()) return breakDown(opened.error());
  engine_ = std::move(*opened);
  fresh_ = false;
}

Result<std::optional<std::string>> CrashableRocks::get(std::string_view key) const {
  WITAN_DO(countRead());
  return engine_->store().get(key);
}

Status CrashableRocks::scan(std::string_view prefix, std::string_view from, const Visitor& visit) const {
  WITAN_DO(countRead());
  return engine_->store().scan(prefix, from, visit);
}

Result<std::optional<KeyValue>> CrashableRocks::last(std::string_view prefix) const {
  WITAN_DO(countRead());
  return engine_->store().last(prefix);
}

std::unique_ptr<Snapshot> CrashableRocks::snapshot() const {
  std::lock_guard lock(mutex_);
  return std::make_unique<CrashableRocksSnapshot>(*this, engine_ ? engine_->store().snapshot() : nullptr);
}

Status CrashableRocks::applyWrite(const WriteBatch& batch) {
  const std::uint64_t begin = disk_.position();
  WITAN_DO(engine_->store().write(batch));
  unsynced_.push_back({begin, engine_->sequence()});
  unflushedBytes_ += batch.bytes();
  background();
  return okStatus();
}

// What RocksDB's threads would do, some writes later.
void CrashableRocks::background() {
  if (flush_ && flush_->delay > 0) {
    --flush_->delay;
    return;
  }
  engine_->runJobs();
  if (flush_ && engine_->isFlushed()) {
    std::erase_if(unsynced_, [&](const Unsynced& batch) { return batch.sequence <= flush_->sequence; });
    flush_.reset();
  }
  if (unflushedBytes_ < options_.flushBytes) return;
  engine_->beginFlush();
  flush_ = Flush{options_.jobDelay, engine_->sequence()};
  unflushedBytes_ = 0;
  if (options_.jobDelay == 0) background();
}

Status CrashableRocks::applySync() {
  WITAN_DO(engine_->store().sync());
  unsynced_.clear();
  return okStatus();
}

// The power may have gone inside of RocksDB, even of a call that it took for successful.
Status CrashableRocks::afterStep(Status status) {
  if (disk_.hasPower()) return status;
  Error error = status.ok() ? ioFailed("the power was lost", "reopen the store") : status.error();
  breakDown(error);
  return error;
}

void CrashableRocks::crashAtDiskCall(std::uint64_t n) { disk_.crashAtCall(n); }

void CrashableRocks::crashWhileOpening(std::uint64_t n) {
  std::lock_guard lock(mutex_);
  crashWhileOpening_ = n;
}

CrashReport CrashableRocks::crash(const CrashPlan& plan) {
  std::lock_guard lock(mutex_);
  DiskCrash crash{.tearLast = {}, .scatter = plan.scatter};
  if (plan.keepUnsynced < unsynced_.size()) crash.upTo = unsynced_[plan.keepUnsynced].begin;
  if (plan.keepUnsynced > 0 && !unsynced_.empty()) crash.tearLast = plan.tearLastValue;
  close();
  CrashReport report;
  report.torn = disk_.crash(crash);
  const std::vector<Unsynced> unsynced = std::move(unsynced_);
  open();
  const std::uint64_t found = engine_ ? engine_->sequence() : 0;
  for (const Unsynced& batch : unsynced) ++(batch.sequence <= found ? report.kept : report.lost);
  return report;
}

// Above RocksDB's checksums: the record is read, changed and written again.
std::optional<std::string> CrashableRocks::rot(std::uint64_t n, std::uint64_t m) {
  std::lock_guard lock(mutex_);
  if (closed() || !engine_) return std::nullopt;
  std::vector<std::string> keys;
  const Status scanned = engine_->store().scan("", "", [&](std::string_view key, std::string_view value) {
    if (!value.empty()) keys.emplace_back(key);
    return true;
  });
  if (!scanned.ok() || keys.empty()) return std::nullopt;
  std::string& key = keys[n % keys.size()];
  std::string value = engine_->store().get(key).value().value();
  const std::uint64_t bit = m % (8 * value.size());
  value[bit / 8] = static_cast<char>(value[bit / 8] ^ (1 << bit % 8));
  WriteBatch batch;
  batch.put(key, value);
  if (!applyWrite(batch).ok() || !applySync().ok()) return std::nullopt;
  return std::move(key);
}

namespace {

class RocksImage final : public DiskImage {
 public:
  explicit RocksImage(MemoryDisk::Content all) : content(std::move(all)) {}
  const MemoryDisk::Content content;
};

}  // namespace

std::shared_ptr<const DiskImage> CrashableRocks::image() const {
  std::lock_guard lock(mutex_);
  return std::make_shared<RocksImage>(disk_.durable());
}

void CrashableRocks::restoreImage(const DiskImage& image) {
  const auto* ours = dynamic_cast<const RocksImage*>(&image);
  WITAN_CHECK(ours, "an image goes back to a store of the kind it was taken from");
  std::lock_guard lock(mutex_);
  close();
  disk_.become(ours->content);
  open();
}

void CrashableRocks::wipe() {
  std::lock_guard lock(mutex_);
  close();
  disk_.become({});
  fresh_ = true;
  open();
}

void CrashableRocks::visitBytes(const Visitor& visit) const {
  std::lock_guard lock(mutex_);
  bool goesOn = true;
  const auto visitOne = [&](std::string_view key, std::string_view value) { return goesOn = visit(key, value); };
  // Whole, which they are in no file where one of its blocks ends in them.
  if (engine_) (void)engine_->store().scan("", "", visitOne);
  for (const MemoryDisk::Content& content : {disk_.visible(), disk_.durable()}) {
    for (const auto& [name, bytes] : content) {
      if (!goesOn || !visitOne(name, bytes)) return;
    }
  }
}

std::size_t CrashableRocks::unsyncedBatches() const {
  std::lock_guard lock(mutex_);
  return unsynced_.size();
}

}  // namespace witan::store
