// MemoryStore: the twin of the durable store, with a disk that can fail. For tests and simulation.
//
// What it can do to its user, beside the faults of store/crashable_store.h: tear the last un-synced batch that survived
// a power loss, so that its last put keeps only the first bytes of its value. RocksDB never shows that, its log has
// checksums; a plain file does, and a reader of our formats must notice.
//
// One map holds what is visible; what is not synced yet is known by how to undo it. So a write costs one change of the
// map, and a crash costs what it loses.
//
// Threads and lifetime: as CrashableStore.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/crashable_store.h"

namespace witan::store {

class MemoryStore final : public CrashableStore {
 public:
  MemoryStore();

  Result<std::optional<std::string>> get(std::string_view key) const override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  Status writeSynced(const WriteBatch& batch) override;

  using CrashableStore::crash;
  CrashReport crash(const CrashPlan& plan) override;  // O(changes that were not synced)
  std::optional<std::string> rot(std::uint64_t n, std::uint64_t m) override;
  std::shared_ptr<const DiskImage> image() const override;
  void restoreImage(const DiskImage& image) override;
  void wipe() override;
  void visitBytes(const Visitor& visit) const override;
  std::size_t unsyncedBatches() const override;

 private:
  friend class MemorySnapshot;
  using Value = std::shared_ptr<const std::string>;
  using Map = std::map<std::string, Value, std::less<>>;
  struct Change {
    std::string key;
    Value before;  // null: it was not there
    bool put;
  };
  using Changes = std::vector<Change>;  // of one batch, in its order
  class View;
  class Image;

  static void undo(const Changes& changes, Map& map);

  // All below: with mutex_ held.
  Status applyWrite(const WriteBatch& batch) override;
  Status applySync() override;
  Map& writable();
  void apply(const WriteBatch& batch, Changes* undo);
  bool tear(const Changes& changes, std::size_t bytes);
  bool isDurable(const std::string& key) const;
  void become(Map map);

  std::shared_ptr<Map> visible_;   // copied before a write while a view holds it
  std::vector<Changes> unsynced_;  // undoing them, the last one first, gives what is durable
};

}  // namespace witan::store
