// Dots, vector clocks and versions: which change came after which (seed 003, section 1.2).
//
// A writer is one incarnation of one device; its name is the seeds' hostId (replication/writer.h). A dot names the one
// commit that a writer made with that counter. A vector clock maps writers to counters and says "everything up to
// here". Values: copyable, no I/O, any thread. Inside a replica the same things are kept with small integers instead of
// names (replication/version_vector.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace witan::replication {

// Ordered by host, then counter: the order of every tie-break "smallest dot" (F3, F4).
struct Dot {
  std::string host;
  std::uint64_t counter = 0;

  friend auto operator<=>(const Dot&, const Dot&) = default;
  friend bool operator==(const Dot&, const Dot&) = default;
};

enum class CausalOrder { equal, before, after, concurrent };

const char* toString(CausalOrder order);

// A missing entry is 0 and an entry of 0 is not kept, so equal clocks are equal values.
class VectorClock {
 public:
  using Entry = std::pair<std::string, std::uint64_t>;

  VectorClock() = default;
  VectorClock(std::initializer_list<Entry> entries);

  std::uint64_t at(std::string_view host) const;  // O(log n)
  void set(std::string_view host, std::uint64_t counter);
  // Pointwise maximum. O(n).
  void join(const VectorClock& other);
  void raise(std::string_view host, std::uint64_t counter);  // join with one entry

  bool covers(const Dot& dot) const { return at(dot.host) >= dot.counter; }

  // Entries by host, in the order of their bytes.
  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  friend bool operator==(const VectorClock&, const VectorClock&) = default;

 private:
  std::vector<Entry> entries_;
};

// 003 section 1.2: a <= b, a < b, a || b. O(n).
bool le(const VectorClock& a, const VectorClock& b);
bool lt(const VectorClock& a, const VectorClock& b);
bool concurrent(const VectorClock& a, const VectorClock& b);
CausalOrder compare(const VectorClock& a, const VectorClock& b);

// --- A version: the record that one commit wrote under one key. The views of the record kinds are pure functions of
// the versions that a replica holds for a key; replication/record_table.h keeps them.

struct Version {
  Dot dot;
  // The versions of this key that its author had seen, with the dot itself; only the dot once all devices have all of
  // it (stripping).
  VectorClock context;
  std::string body;  // as its kind says; empty and `tombstone` for a deletion
  bool tombstone = false;

  friend bool operator==(const Version&, const Version&) = default;
};

}  // namespace witan::replication
