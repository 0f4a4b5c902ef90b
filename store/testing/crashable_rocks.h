// CrashableRocks: the durable store's own code and RocksDB's, on a disk in memory that can fail
// (store/testing/memory_disk.h). For tests and for a minority of simulated runs: slower than MemoryStore, but what is
// tested is what is shipped.
//
// Deterministic: the same calls give the same calls to the disk, with the same sizes. Nothing happens by itself: what
// RocksDB would do in background threads is done at the end of a write, and a memory table is written
// out after a fixed number of bytes (RocksDB's own measure depends on the chance in its skip lists). Two things stay
// out of our reach: RocksDB draws an identity for each opening, which stands in its table files and manifests; and
// while any database is open the process has one thread of RocksDB's for its log of words, of which there is none here.
//
// Nothing is compressed, and whole keys are stored, so that visitBytes() shows what was written.
//
// Threads and lifetime: as CrashableStore.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/crashable_store.h"
#include "store/testing/memory_disk.h"

namespace witan::store {

struct CrashableRocksOptions {
  // Written batches of so many bytes fill a memory table.
  std::size_t flushBytes = 256 << 10;
  // So many writes later it is written out and tables are compacted: until then two logs are in use, as when RocksDB's
  // background threads lag behind.
  std::size_t jobDelay = 3;
};

class CrashableRocks final : public CrashableStore {
 public:
  explicit CrashableRocks(const CrashableRocksOptions& options = {});
  ~CrashableRocks() override;

  Result<std::optional<std::string>> get(std::string_view key) const override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override;
  std::unique_ptr<Snapshot> snapshot() const override;

  using CrashableStore::crash;
  // If RocksDB cannot be opened again, everything fails with the reason from then on.
  CrashReport crash(const CrashPlan& plan) override;
  std::optional<std::string> rot(std::uint64_t n, std::uint64_t m) override;
  std::shared_ptr<const DiskImage> image() const override;
  void restoreImage(const DiskImage& image) override;
  void wipe() override;
  void visitBytes(const Visitor& visit) const override;
  std::size_t unsyncedBatches() const override;

  // The power goes in the midst of RocksDB's work: at the n-th call from now that changes something on the disk.
  void crashAtDiskCall(std::uint64_t n);
  // The same during the next opening: how many calls it gets. That opening is then repeated.
  void crashWhileOpening(std::uint64_t n);
  // The disk below, for tests: its calls, its bytes, its lies.
  MemoryDisk& disk() { return disk_; }

 private:
  friend class CrashableRocksSnapshot;
  class Engine;  // RocksDB, open
  struct Unsynced {
    std::uint64_t begin;     // the disk's position before it
    std::uint64_t sequence;  // RocksDB's number of its last operation
  };

  // A full memory table on its way out.
  struct Flush {
    std::size_t delay;       // writes
    std::uint64_t sequence;  // of the last operation in it
  };

  // All below: with mutex_ held.
  Status applyWrite(const WriteBatch& batch) override;
  Status applySync() override;
  Status afterStep(Status status) override;
  void background();
  void close();
  void open();

  const CrashableRocksOptions options_;
  MemoryDisk disk_;
  std::unique_ptr<Engine> engine_;
  std::vector<Unsynced> unsynced_;
  std::optional<std::uint64_t> crashWhileOpening_;
  bool fresh_ = true;  // the disk has never held a store
  std::size_t unflushedBytes_ = 0;
  std::optional<Flush> flush_;
};

}  // namespace witan::store
