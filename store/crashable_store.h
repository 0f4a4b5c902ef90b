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
  // Faults, armed one of each kind. n counts from now: 0 is the next step. Arming again replaces; opening the store
  // again disarms. Write step n fails with ioFailed, and S5 holds from then on.
  virtual void failAt(std::uint64_t n, Moment moment) = 0;
  void failAt(std::uint64_t n) { failAt(n, Moment::before); }
  // The power goes at write step n: it and everything later, reads too, fails until crash().
  virtual void crashAt(std::uint64_t n, Moment moment) = 0;
  void crashAt(std::uint64_t n) { crashAt(n, Moment::before); }
  // Read n (get, last, the start of a scan; of the store or a snapshot) fails with ioFailed; later ones work.
  virtual void failReadAt(std::uint64_t n) = 0;

  // While set, every write step fails with "disk full". Also holds across crash(), which needs no space itself.
  virtual void setFull(bool full) = 0;

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
  virtual std::uint64_t writeSteps() const = 0;
  virtual std::uint64_t reads() const = 0;
  // Whether a write step has failed since the store was last opened.
  virtual bool struck() const = 0;
  // Batches that a crash could lose now, as far as their writer knows.
  virtual std::size_t unsyncedBatches() const = 0;
};

}  // namespace witan::store
