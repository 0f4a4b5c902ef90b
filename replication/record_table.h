// RecordTable: the versions that one space holds, in memory, in the three orders that replication asks for.
//
//   by key        for reads and arrivals: a hash table of 2^b buckets, addressed by the top bits of the record's hash;
//   by hash range for repair: the same buckets in order. Each keeps the digest of its versions, so the digest of a
//   range
//                 of hashes is a sum over a run of buckets, and nothing needs maintaining but the table itself;
//   by origin     for catching up: per writer an intrusive tree by counter. Only versions that are still held have a
//                 place in it, so what was overwritten while a device was away costs nothing.
//
// Bodies of kinds that are not resident stay on disk (replication/space.h reads them). Not thread-safe. Nothing outside
// may keep a pointer to a Held or a Record across a call that changes the table.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "replication/fingerprint.h"
#include "replication/record_schemas.h"
#include "replication/version_vector.h"

namespace witan::replication {

struct Record;
struct RowSeal;

struct ContextEntry {
  WriterIndex writer = 0;
  Seq seq = 0;
  friend bool operator==(const ContextEntry&, const ContextEntry&) = default;
};

// The versions that a version's author had seen of its key, without the version's own dot, which also stands for
// everything earlier by the same writer. At most one entry a writer.
using Context = std::vector<ContextEntry>;

// A device holds hundreds of thousands of versions, so each byte of a Held and a Record counts.

// The bytes of a body: one allocation, and a pointer to it.
class HeldBody {
 public:
  HeldBody() = default;
  HeldBody& operator=(std::string_view bytes);
  operator std::string_view() const;
  bool empty() const { return bytes_ == nullptr; }

 private:
  std::unique_ptr<char[]> bytes_;  // behind their number; null: none
};

// One version, as a replica holds it.
struct Held : boost::intrusive::set_base_hook<boost::intrusive::optimize_size<true>>,
              boost::intrusive::list_base_hook<> {
  Record* record = nullptr;
  Seq seq = 0;
  HeldBody body;  // empty if the kind is not resident
  // What proves who wrote it (replication/row_seals.h); null: nothing.
  RowSeal* seal = nullptr;
  WriterIndex writer = 0;
  std::uint16_t leaf = 0;
  bool tombstone = false;
  bool fresh = false;  // not durable yet, so that its body is still here (Space::flushed)

  Uint128 fingerprint() const { return Uint128{fingerprint_[1]} << 64 | fingerprint_[0]; }
  void setFingerprint(Uint128 value) {
    fingerprint_[0] = static_cast<std::uint64_t>(value), fingerprint_[1] = static_cast<std::uint64_t>(value >> 64);
  }
  const Context& context() const;
  void setContext(Context context);
  // Which fields of an agent's state differ from the version `base` of the same writer; 0: not known. The sender may
  // send these fields only (sync), to someone who has had that base.
  Seq base() const { return rare_ ? rare_->base : 0; }
  std::uint32_t changed() const { return rare_ ? rare_->changed : 0; }
  void setBase(Seq base, std::uint32_t changed);
  // Digest of the context before that was shortened. Null: it was not.
  const Hash* whole() const { return rare_ ? rare_->whole.get() : nullptr; }
  void setWhole(const Hash& digest) { rare().whole = std::make_unique<Hash>(digest); }

  // Whether its author had seen the dot.
  bool saw(WriterIndex w, Seq s) const {
    if (w == writer) return s <= seq;
    for (const ContextEntry& e : context())
      if (e.writer == w) return s <= e.seq;
    return false;
  }

 private:
  struct Rare {
    Context context;
    Seq base = 0;
    std::unique_ptr<Hash> whole;
    std::uint32_t changed = 0;
  };
  Rare& rare();

  std::uint64_t fingerprint_[2]{};
  std::unique_ptr<Rare> rare_;
};

// The key stands behind it.
struct Record {
  const Kind kind;
  const std::uint32_t keyBytes;
  const std::uint64_t hash;
  // The antichain; ordered by nothing.
  boost::container::small_vector<Held*, 1> versions;

  static std::unique_ptr<Record> make(Kind kind, std::uint64_t hash, std::string_view key);
  static void operator delete(void* room) { ::operator delete(room); }
  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), keyBytes}; }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

 private:
  Record(Kind k, std::uint64_t h, std::uint32_t bytes) : kind(k), keyBytes(bytes), hash(h) {}
};

struct OriginOrder {
  // Versions of one commit in the order of their records' hashes: the same on every replica.
  bool operator()(const Held& a, const Held& b) const;
};

// For looking up a counter in a writer's versions.
struct SeqOrder {
  bool operator()(Seq seq, const Held& held) const { return seq < held.seq; }
  bool operator()(const Held& held, Seq seq) const { return held.seq < seq; }
};

class RecordTable {
 public:
  using Origin =
      boost::intrusive::set<Held, boost::intrusive::compare<OriginOrder>, boost::intrusive::constant_time_size<false>>;
  using Unstripped = boost::intrusive::list<Held>;

  RecordTable(const FingerprintKey& key, const RecordSchemas& schemas) : key_(key), schemas_(schemas), buckets_(1) {}
  ~RecordTable();
  RecordTable(const RecordTable&) = delete;
  RecordTable& operator=(const RecordTable&) = delete;

  std::uint64_t hashOf(Kind kind, std::string_view key) const;
  Record* find(Kind kind, std::string_view key);
  Record& findOrAdd(Kind kind, std::string_view key);

  // Adds a version to its record. O(log n).
  Held& add(Record& record, std::unique_ptr<Held> held);
  // Takes a version out and destroys it; a record without versions goes too (and `record` with it).
  void remove(Held& held);
  // The version's context is now only its own dot.
  void stripped(Held& held);

  // The versions of one writer by counter.
  Origin& origin(WriterIndex writer);
  // Versions whose context is more than their dot, and tombstones: what stability may shorten.
  Unstripped& unstripped() { return unstripped_; }

  const Digest& digest() const { return digest_; }
  // The digest of the records whose hashes lie in [first, last]. O(buckets in the range).
  Digest digest(std::uint64_t first, std::uint64_t last) const;
  // Visits the records whose hashes lie in [first, last] in that order, until the visitor returns false.
  void visit(std::uint64_t first, std::uint64_t last, const std::function<bool(Record&)>& visitor);
  // All records, by hash.
  void visit(const std::function<bool(Record&)>& visitor) { visit(0, ~std::uint64_t{0}, visitor); }

  std::size_t records() const { return records_; }

 private:
  struct Bucket {
    std::vector<std::unique_ptr<Record>> records;  // by hash, then kind and key
    Digest digest;
  };

  std::size_t bucketOf(std::uint64_t hash) const { return bits_ == 0 ? 0 : hash >> (64 - bits_); }
  void grow();
  bool counts(const Held& held) const { return !held.tombstone && schemas_.traits(held.record->kind).digested; }

  const FingerprintKey& key_;
  const RecordSchemas& schemas_;
  unsigned bits_ = 0;
  std::vector<Bucket> buckets_;
  std::deque<Origin> origins_;  // by writer
  Unstripped unstripped_;
  Digest digest_;
  std::size_t records_ = 0;
};

}  // namespace witan::replication
