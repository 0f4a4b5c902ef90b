// CrashableStore: a store with the disk under it, and everything that can happen to a disk. For tests and simulation.
//
// Two implementations: MemoryStore (store/memory_store.h), quick and with every outcome reachable, and CrashableRocks
// (store/testing/crashable_rocks.h), RocksDB on a file system in memory. The object is the disk and the open store on
// it at once. Everything is chosen by the caller: no clock, no chance, no thread inside.
//
// A write step is one write() or one sync(); writeSynced() is two steps, first the write, then the sync. Steps refused
// for their size, and writes of an empty batch, do not count. Once a step has failed, S5 of store/store.h holds until
// the store is opened again, which crash(), restoreImage() and wipe() do.
//
// Threads: as Store, but what opens the store again runs beside nothing else. Lifetime: outlives its snapshots;
// snapshots are not kept when the store is opened again. Images outlive whatever they are images of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace witan::store {

// Whether a fault strikes before the step had its effect, or after it (done, but reported as failed).
enum class Moment { before, after };

// What the disk holds when the power is back.
struct CrashPlan {
  // How many of the un-synced batches survive, the oldest first; more than there are means all.
  std::size_t keepUnsynced = 0;
  // Tear what was written last of what survives after this many bytes: the value of the last put (MemoryStore), the
  // last un-synced write to a file (CrashableRocks, where the batch in it is lost: its log has checksums).
  std::optional<std::size_t> tearLastValue;
  // CrashableRocks, if not 0: of each file and of the names in the folder an own part, drawn from this seed, of what
  // was not synced survives, instead of everything up to one moment.
  std::uint64_t scatter = 0;
};

struct CrashReport {
  std::size_t kept = 0;  // un-synced batches that survived
  std::size_t lost = 0;  // un-synced batches that did not
  bool torn = false;     // something is now shorter than what was written
  friend bool operator==(const CrashReport&, const CrashReport&) = default;
};

// A copy of a disk. Immutable.
class DiskImage {
 public:
  virtual ~DiskImage() = default;
};

class CrashableStore : public Store {
 public:
  ~CrashableStore() override { WITAN_CHECK(snapshots_ == 0, "a store outlives its snapshots"); }

  Status write(const WriteBatch& batch) override;
  Status sync() override;
  Status writeSynced(const WriteBatch& batch) override;

  // Faults, armed one of each kind. n counts from now: 0 is the next step. Arming again replaces; opening the store
  // again disarms. Write step n fails with ioFailed, and S5 holds from then on.
  void failAt(std::uint64_t n, Moment moment = Moment::before);
  // The power goes at write step n: it and everything later, reads too, fails until crash().
  void crashAt(std::uint64_t n, Moment moment = Moment::before);
  // Read n (get, last, the start of a scan; of the store or a snapshot) fails with ioFailed; later ones work.
  void failReadAt(std::uint64_t n);

  // While set, every write step fails with "disk full". Also holds across crash(), which needs no space itself.
  void setFull(bool full);

  // Power loss now (if crashAt has not struck already), then opening again.
  virtual CrashReport crash(const CrashPlan& plan) = 0;
  CrashReport crash() { return crash(CrashPlan{}); }
  // Opening again without power loss: what was written, synced or not, is there.
  void reopen() { crash({.keepUnsynced = SIZE_MAX, .tearLastValue = {}}); }

  // Bit rot that no checksum of the store notices: one bit of the n-th record's value flips, durably and visibly.
  // Counted over the records that are durable as they are visible and have a value; n and the bit m are taken modulo.
  // Returns the record's key; none when there is no such record, or a write step has failed. What was not synced may
  // become durable with it.
  virtual std::optional<std::string> rot(std::uint64_t n, std::uint64_t m) = 0;

  // What is durable now. O(disk), values shared.
  virtual std::shared_ptr<const DiskImage> image() const = 0;
  // Power loss; the disk is then as in the image, which is of a store of the same kind; then opening again.
  virtual void restoreImage(const DiskImage& image) = 0;
  // Power loss, and the store comes back on an empty disk.
  virtual void wipe() = 0;

  // Every byte that is on the disk or will be with the next sync: (key, value) of records, (name, content) of files.
  // Ends when the visitor returns false. Nothing may be written meanwhile.
  virtual void visitBytes(const Visitor& visit) const = 0;

  // Since construction.
  std::uint64_t writeSteps() const;
  std::uint64_t reads() const;
  // Whether a write step has failed since the store was last opened.
  bool struck() const;
  // Batches that a crash could lose now, as far as their writer knows.
  virtual std::size_t unsyncedBatches() const = 0;

 protected:
  // Counts an object that sees one moment of the store, which is not opened again meanwhile.
  class SnapshotCount {
   public:
    explicit SnapshotCount(const CrashableStore& store) : store_(store) { ++store_.snapshots_; }
    ~SnapshotCount();
    SnapshotCount(const SnapshotCount&) = delete;
    SnapshotCount& operator=(const SnapshotCount&) = delete;

   private:
    const CrashableStore& store_;
  };

  // `what` is the store in error messages.
  explicit CrashableStore(std::string what) : what_(std::move(what)) {}

  // The effects of the two steps, without faults. A failure closes the store (S5).
  virtual Status applyWrite(const WriteBatch& batch) = 0;
  virtual Status applySync() = 0;
  // The result of a step as its caller gets it.
  virtual Status afterStep(Status status) { return status; }

  Status countRead() const;  // locks
  // All below: with mutex_ held.
  Status countReadLocked() const;
  // Whether a fault strikes within the next `steps` steps. pass() takes them at once. Requires: none strikes, and the
  // store is not closed.
  bool strikes(std::uint64_t steps) const;
  void pass(std::uint64_t steps) { writeSteps_ += steps; }
  const std::optional<Error>& closed() const { return closed_; }
  void checkNoSnapshots() const { WITAN_CHECK(snapshots_ == 0, "snapshots are not kept across a crash"); }
  // The store could not be opened: everything fails with `error`, reads too.
  void breakDown(Error error);
  // The store is open again.
  void resetFaults();

  mutable std::mutex mutex_;

 private:
  struct Fault {
    std::uint64_t at;
    Moment moment;
  };

  Status step(const char* name, const std::function<Status()>& effect);
  Status closeAt(const char* name, std::uint64_t n, const char* why, const char* hint);

  const std::string what_;
  std::optional<Error> closed_;  // S5
  bool powerLost_ = false, full_ = false;
  std::optional<Fault> fail_, crash_;
  mutable std::optional<std::uint64_t> failRead_;
  std::uint64_t writeSteps_ = 0;
  mutable std::uint64_t reads_ = 0;
  mutable std::size_t snapshots_ = 0;
};

}  // namespace witan::store
