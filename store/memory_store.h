// MemoryStore: the twin of the durable store, with a disk that can fail. For tests and simulation.
//
// What it can do to its user:
//   * lose power at any write boundary: synced batches stay, un-synced ones are lost from the end (S4);
//   * tear the last un-synced batch that survived: its last put keeps only the first bytes of its value. RocksDB never
//     shows that, its log has checksums; a plain file does, and a reader of our formats must notice;
//   * fail any read, write or sync, without or with its effect.
// Everything is chosen by the caller: no clock, no chance, no thread inside. The object is the disk and the open store
// on it at once; crash() is power loss followed by reopening.
//
// A write step is one write() or one sync(); writeSynced() is two steps, first the write, then the sync. Steps refused
// for their size, and writes of an empty batch, do not count.
//
// Threads: as Store. Lifetime: outlives its snapshots; snapshots are not kept across crash().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace witan::store {

// Whether a fault strikes before the step had its effect, or after it (done, but reported as failed).
enum class Moment { before, after };

// What the disk holds when the power is back.
struct CrashPlan {
  // How many of the un-synced batches survive, the oldest first; more than there are means all.
  std::size_t keepUnsynced = 0;
  // Cut the last put of the last surviving un-synced batch to this many bytes.
  std::optional<std::size_t> tearLastValue;
};

struct CrashReport {
  std::size_t kept = 0;  // un-synced batches that survived
  std::size_t lost = 0;  // un-synced batches that did not
  bool torn = false;     // a value is now shorter than what was written
  friend bool operator==(const CrashReport&, const CrashReport&) = default;
};

class MemoryStore final : public Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  Result<std::optional<std::string>> get(std::string_view key) const override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  Status write(const WriteBatch& batch) override;
  Status sync() override;
  Status writeSynced(const WriteBatch& batch) override;

  // Faults, armed one of each kind. n counts from now: 0 is the next step. Arming again replaces; crash() disarms.
  // Write step n fails with ioFailed, and S5 holds from then on.
  void failAt(std::uint64_t n, Moment moment = Moment::before);
  // The power goes at write step n: it and everything later, reads too, fails until crash().
  void crashAt(std::uint64_t n, Moment moment = Moment::before);
  // Read n (get, last, the start of a scan; of the store or a snapshot) fails with ioFailed; later ones work.
  void failReadAt(std::uint64_t n);

  // Power loss now (if crashAt has not struck already), then reopening. O(keys).
  CrashReport crash(const CrashPlan& plan = {});
  // Reopening without power loss: what was written, synced or not, is there.
  void reopen() { crash({.keepUnsynced = SIZE_MAX, .tearLastValue = {}}); }

  // Since construction.
  std::uint64_t writeSteps() const;
  std::uint64_t reads() const;
  // Whether failAt or crashAt has struck since the last crash().
  bool struck() const;
  // Batches that a crash could lose now.
  std::size_t unsyncedBatches() const;

 private:
  friend class MemorySnapshot;
  using Value = std::shared_ptr<const std::string>;
  using Map = std::map<std::string, Value, std::less<>>;
  struct Change {
    std::string key;
    Value value;  // null: erased
  };
  using Changes = std::vector<Change>;
  struct Fault {
    std::uint64_t at;
    Moment moment;
  };
  class View;

  static void apply(const Changes& changes, Map& map);
  static bool tear(Changes& changes, std::size_t bytes);

  // All below: with mutex_ held.
  template <class Effect>
  Status step(const char* name, Effect effect);
  void applyVisible(const WriteBatch& batch);
  void makeDurable();
  Status countRead() const;

  mutable std::mutex mutex_;
  std::shared_ptr<Map> visible_;  // copied before a write while a view holds it
  Map durable_;
  std::vector<Changes> unsynced_;
  std::optional<Error> closed_;  // S5
  bool powerLost_ = false;
  std::optional<Fault> fail_, crash_;
  mutable std::optional<std::uint64_t> failRead_;
  std::uint64_t writeSteps_ = 0;
  mutable std::uint64_t reads_ = 0;
  mutable std::size_t snapshots_ = 0;
};

}  // namespace witan::store
