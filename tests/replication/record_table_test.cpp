// RecordTable against a map that knows nothing of hashes and buckets, and the laws of clocks and vectors (003, section
// 1.2), on generated cases.
#include "replication/record_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "replication/records/record_schemas.h"

namespace witan::replication::record_table_test {
namespace {

using Id = std::tuple<Kind, std::string, WriterIndex, Seq>;

struct Model {
  struct Entry {
    bool tombstone;
    Uint128 fingerprint;
    bool unstripped;
  };
  std::map<Id, Entry> versions;

  Digest digest(RecordTable& table, std::uint64_t first, std::uint64_t last) const {
    Digest sum;
    for (const auto& [id, entry] : versions) {
      const auto& [kind, key, writer, seq] = id;
      const std::uint64_t hash = table.hashOf(kind, key);
      if (!entry.tombstone && traitsOf(kind).digested && hash >= first && hash <= last) sum.add(entry.fingerprint);
    }
    return sum;
  }
};

class TableMachine {
 public:
  void add(Kind kind, const std::string& key, WriterIndex writer, Seq seq, bool tombstone, bool context) {
    if (model_.versions.contains({kind, key, writer, seq})) return;
    auto held = std::make_unique<Held>();
    held->writer = writer;
    held->seq = seq;
    held->tombstone = tombstone;
    ++fingerprints_;
    held->setFingerprint(static_cast<Uint128>(fingerprints_) << 70 | fingerprints_);
    if (context) held->setContext({{writer + 1, 1}});
    model_.versions[{kind, key, writer, seq}] = {tombstone, held->fingerprint(), tombstone || context};
    table_.add(table_.findOrAdd(kind, key), std::move(held));
  }
  void removeOne(std::size_t which) {
    if (model_.versions.empty()) return;
    const auto at = std::next(model_.versions.begin(), static_cast<std::ptrdiff_t>(which % model_.versions.size()));
    table_.remove(*find(at->first));
    model_.versions.erase(at);
  }
  void stripOne(std::size_t which) {
    if (model_.versions.empty()) return;
    const auto at = std::next(model_.versions.begin(), static_cast<std::ptrdiff_t>(which % model_.versions.size()));
    table_.stripped(*find(at->first));
    at->second.unstripped = at->second.tombstone;
  }

  void check(std::uint64_t x, std::uint64_t y) {
    std::set<std::pair<Kind, std::string>> records;
    std::map<WriterIndex, std::vector<Seq>> origins;
    std::size_t unstripped = 0;
    for (const auto& [id, entry] : model_.versions) {
      const auto& [kind, key, writer, seq] = id;
      RC_ASSERT(find(id) != nullptr);
      records.insert({kind, key});
      origins[writer].push_back(seq);
      unstripped += entry.unstripped ? 1 : 0;
    }
    RC_ASSERT(table_.records() == records.size());
    for (auto& [writer, seqs] : origins) {
      std::sort(seqs.begin(), seqs.end());
      std::vector<Seq> walked;
      for (const Held& held : table_.origin(writer)) walked.push_back(held.seq);
      RC_ASSERT(walked == seqs);
    }
    RC_ASSERT(static_cast<std::size_t>(std::distance(table_.unstripped().begin(), table_.unstripped().end())) ==
              unstripped);
    RC_ASSERT(table_.digest() == model_.digest(table_, 0, ~std::uint64_t{0}));
    RC_ASSERT(table_.digest(std::min(x, y), std::max(x, y)) == model_.digest(table_, std::min(x, y), std::max(x, y)));
    std::uint64_t last = 0;
    std::size_t visited = 0;
    table_.visit([&](Record& record) {
      RC_ASSERT(record.hash >= last);
      last = record.hash;
      ++visited;
      return true;
    });
    RC_ASSERT(visited == records.size());
  }

 private:
  Held* find(const Id& id) {
    const auto& [kind, key, writer, seq] = id;
    Record* record = table_.find(kind, key);
    if (record == nullptr) return nullptr;
    for (Held* held : record->versions)
      if (held->writer == writer && held->seq == seq) return held;
    return nullptr;
  }

  const FingerprintKey key_{"cluster"};
  RecordTable table_{key_, recordSchemas()};
  Model model_;
  std::uint64_t fingerprints_ = 0;
};

RC_GTEST_PROP(RecordTableProperties, AgreesWithAPlainMap, ()) {
  const auto script =
      *rc::gen::container<std::vector<std::uint32_t>>(400, rc::gen::inRange<std::uint32_t>(0, 1u << 24));
  static constexpr Kind kKinds[] = {Kind::agentState, Kind::message, Kind::batch};
  TableMachine machine;
  for (const std::uint32_t word : script) {
    // Mostly additions, so that the table grows through several doublings.
    if (word % 8 == 0)
      machine.removeOne(word >> 3);
    else if (word % 8 == 1)
      machine.stripOne(word >> 3);
    else
      machine.add(kKinds[(word >> 3) % 3], "key-" + std::to_string((word >> 5) % 64), (word >> 11) % 5,
                  1 + (word >> 14) % 30, (word >> 19) % 4 == 0, (word >> 21) % 2 == 0);
  }
  machine.check(*rc::gen::arbitrary<std::uint64_t>() << 3, ~(*rc::gen::arbitrary<std::uint64_t>() << 3));
}

// --- clocks

VectorClock anyClock() {
  VectorClock clock;
  for (const char* host : {"a", "b", "c", "d"}) clock.set(host, *rc::gen::inRange<std::uint64_t>(0, 4));
  return clock;
}

VectorClock joined(VectorClock a, const VectorClock& b) {
  a.join(b);
  return a;
}

// "Partial order: vc1 <= vc2 iff forall h: vc1[h] <= vc2[h]."
RC_GTEST_PROP(ClockLaws, PartialOrder, ()) {
  const VectorClock a = anyClock(), b = anyClock(), c = anyClock();
  bool all = true;
  for (const char* host : {"a", "b", "c", "d"}) all = all && a.at(host) <= b.at(host);
  RC_ASSERT(le(a, b) == all);
  RC_ASSERT(le(a, a));
  RC_ASSERT(!(le(a, b) && le(b, a)) || a == b);
  RC_ASSERT(!(le(a, b) && le(b, c)) || le(a, c));
}

// "Strict dominance: vc1 < vc2 iff vc1 <= vc2 and exists h: vc1[h] < vc2[h]. Concurrency: vc1 || vc2 iff not(vc1 <=
// vc2) and not(vc2 <= vc1)."
RC_GTEST_PROP(ClockLaws, DominanceAndConcurrency, ()) {
  const VectorClock a = anyClock(), b = anyClock();
  bool smaller = false;
  for (const char* host : {"a", "b", "c", "d"}) smaller = smaller || a.at(host) < b.at(host);
  RC_ASSERT(lt(a, b) == (le(a, b) && smaller));
  RC_ASSERT(concurrent(a, b) == (!le(a, b) && !le(b, a)));
  RC_ASSERT(static_cast<int>(a == b) + static_cast<int>(lt(a, b)) + static_cast<int>(lt(b, a)) +
                static_cast<int>(concurrent(a, b)) ==
            1);
  RC_ASSERT((compare(a, b) == CausalOrder::before) == lt(a, b));
  RC_ASSERT((compare(a, b) == CausalOrder::concurrent) == concurrent(a, b));
}

RC_GTEST_PROP(ClockLaws, JoinIsTheLeastUpperBound, ()) {
  const VectorClock a = anyClock(), b = anyClock(), c = anyClock();
  const VectorClock join = joined(a, b);
  RC_ASSERT(le(a, join));
  RC_ASSERT(le(b, join));
  RC_ASSERT(!(le(a, c) && le(b, c)) || le(join, c));
  RC_ASSERT(join == joined(b, a));
  RC_ASSERT(joined(join, c) == joined(a, joined(b, c)));
  RC_ASSERT(joined(a, a) == a);
  RC_ASSERT(le(a, b) == (join == b));
}

// The same laws hold for vectors of small integers, and both forms agree.
RC_GTEST_PROP(ClockLaws, VectorsAreClocks, ()) {
  WriterTable writers;
  for (const char* host : {"c", "a", "d", "b"}) writers.intern(host);
  const auto vectorOf = [&](const VectorClock& clock) {
    VersionVector out;
    for (const auto& [host, counter] : clock.entries()) out.raise(*writers.find(host), counter);
    return out;
  };
  const VectorClock a = anyClock(), b = anyClock();
  const VersionVector x = vectorOf(a), y = vectorOf(b);
  RC_ASSERT(x.le(y) == le(a, b));
  RC_ASSERT((x == y) == (a == b));
  VersionVector join = x;
  join.join(y);
  RC_ASSERT(withNames(join, writers) == joined(a, b));
  for (const auto& [host, counter] : b.entries())
    RC_ASSERT(x.covers(*writers.find(host), counter) == a.covers({host, counter}));
}

}  // namespace
}  // namespace witan::replication::record_table_test
