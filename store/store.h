// Store: an ordered map from bytes to bytes on one disk, with atomic batches, snapshots and explicit durability.
//
// Three implementations pass the same contract tests (tests/store/contract_test.cpp): RocksDB (store/rocks_store.h),
// and two whose disk can fail (store/crashable_store.h): a twin in memory, and RocksDB on a disk in memory.
//
// The contract:
//   S1  A batch is applied entirely or not at all, also across a crash.
//   S2  Keys are ordered as unsigned bytes, a shorter key before its extensions.
//   S3  A write is visible to every later read at once, but durable only after a later sync() or writeSynced()
//       returned ok. Nothing may be acknowledged to anyone before that.
//   S4  After a crash the store holds a prefix of the writes, in order, and at least all durable ones.
//   S5  The first write or sync that fails in the world (not one refused for its size) closes the store for writing:
//       every later one fails too. What the failed one left on disk is known only after reopening; a second fsync
//       that returns ok proves nothing about the pages the first one lost.
//   S6  A snapshot, and each single scan(), sees one moment, whatever is written meanwhile (also by its own visitor).
//
// Threads: any thread may call any member at any time. Writers are serialised inside.
// Lifetime: a store outlives its snapshots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace witan::store {

// Larger ones are refused with invalidInput, before anything is written.
inline constexpr std::size_t kMaxKeyBytes = 64 * 1024;
inline constexpr std::size_t kMaxValueBytes = 256 * 1024 * 1024;
inline constexpr std::size_t kMaxBatchBytes = 512 * 1024 * 1024;
inline constexpr std::size_t kMaxBatchOps = 4 * 1024 * 1024;

// Puts and erases that a store applies together or not at all.
//
// A value: copyable, not thread-safe, refers to nothing outside itself. Operations keep their order, so a later one on
// the same key wins. Keys and values are any bytes; the empty key and the empty value are ordinary.
// All operations share one buffer: a batch that is cleared and filled again allocates nothing.
class WriteBatch {
 public:
  enum class Kind : unsigned char { put, erase };

  // Valid until the batch is next changed.
  struct Op {
    Kind kind = Kind::put;
    std::string_view key;
    std::string_view value;  // empty for an erase
  };

  void put(std::string_view key, std::string_view value) { append(Kind::put, key, value); }
  void erase(std::string_view key) { append(Kind::erase, key, {}); }
  void clear() {
    buffer_.clear();
    entries_.clear();
  }

  bool empty() const { return entries_.empty(); }
  // Number of operations.
  std::size_t size() const { return entries_.size(); }
  // Bytes of all keys and values.
  std::size_t bytes() const { return buffer_.size(); }

  // Operation number i, from 0. Requires: i < size().
  Op op(std::size_t i) const {
    WITAN_CHECK(i < entries_.size(), "the batch has an operation with this number");
    const Entry& entry = entries_[i];
    std::string_view all(buffer_);
    return {entry.kind, all.substr(entry.offset, entry.keyBytes),
            all.substr(entry.offset + entry.keyBytes, entry.valueBytes)};
  }

  friend bool operator==(const WriteBatch&, const WriteBatch&) = default;

 private:
  struct Entry {
    Kind kind;
    std::size_t offset, keyBytes, valueBytes;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  void append(Kind kind, std::string_view key, std::string_view value) {
    entries_.push_back({kind, buffer_.size(), key.size(), value.size()});
    buffer_.append(key);
    buffer_.append(value);
  }

  std::string buffer_;
  std::vector<Entry> entries_;
};

using KeyValue = std::pair<std::string, std::string>;
// Returns whether to go on. The views are valid during the call.
using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

// What can be read: a store now, or a snapshot of one moment.
class Reader {
 public:
  virtual ~Reader() = default;
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // O(log n).
  virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;

  // Visits the keys that begin with `prefix` and are not before `from` (empty: from the start of the prefix), in byte
  // order, until the visitor returns false. The empty prefix means every key. O(log n + visited).
  virtual Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const = 0;

  // The last key that begins with `prefix`, and its value. O(log n).
  virtual Result<std::optional<KeyValue>> last(std::string_view prefix) const = 0;
};

class Snapshot : public Reader {};

class Store : public Reader {
 public:
  virtual std::unique_ptr<Snapshot> snapshot() const = 0;

  // Applies the batch (S1): visible, not yet durable (S3). An empty batch is ok and does nothing.
  virtual Status write(const WriteBatch& batch) = 0;

  // Makes everything written before this call durable. One sync serves all writes before it (group commit).
  virtual Status sync() = 0;

  // write() and sync() in one: the ledger's path, one value and one fdatasync.
  virtual Status writeSynced(const WriteBatch& batch) = 0;
};

// The limits above. For implementations; O(operations).
Status checkLimits(const WriteBatch& batch);

// The first key after all keys that begin with `prefix`; none if there is no such key (empty, or only 0xFF bytes).
std::optional<std::string> prefixEnd(std::string_view prefix);

// Puts every row that `from` shows into `to`, which is empty before, and makes it durable: backups. `from` may be a
// snapshot of a store that others write meanwhile. Returns the number of rows. O(bytes), memory for a few MiB. Errors:
// of either store; unavailable when `goOn` (asked every few MiB; none: always) says no.
Result<std::uint64_t> copyAll(const Reader& from, Store& to, const std::function<bool()>& goOn = {});

}  // namespace witan::store
