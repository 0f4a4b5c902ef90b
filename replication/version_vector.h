// Version vectors with small integers instead of names: what a replica computes with.
//
// A WriterTable gives each writer of a space a number in the order in which this replica met it; the number means
// nothing anywhere else. Values, not thread-safe, no I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "replication/vector_clock.h"

namespace witan::replication {

using WriterIndex = std::uint32_t;
using Seq = std::uint64_t;  // a writer's counter; the first is 1

// Writers of one space. A cluster of 50 devices that were each reinstalled twenty times stays below it.
inline constexpr std::size_t kMaxWriters = 4096;

class WriterTable {
 public:
  // The number of a writer, given to it now if need be. Requires: fewer than kMaxWriters, or it is known.
  WriterIndex intern(std::string_view name) {
    if (const auto at = index_.find(name); at != index_.end()) return at->second;
    WITAN_CHECK(names_.size() < kMaxWriters, "a space has fewer writers");
    const auto index = static_cast<WriterIndex>(names_.size());
    names_.emplace_back(name);
    index_.emplace(name, index);
    return index;
  }
  std::optional<WriterIndex> find(std::string_view name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? std::nullopt : std::optional(at->second);
  }
  const std::string& name(WriterIndex index) const { return names_[index]; }
  std::size_t size() const { return names_.size(); }
  // All numbers in the order of the names' bytes: the only order that is the same everywhere.
  const std::map<std::string, WriterIndex, std::less<>>& byName() const { return index_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, WriterIndex, std::less<>> index_;
};

class VersionVector {
 public:
  Seq at(WriterIndex writer) const { return writer < seqs_.size() ? seqs_[writer] : 0; }
  bool covers(WriterIndex writer, Seq seq) const { return at(writer) >= seq; }
  void raise(WriterIndex writer, Seq seq) {
    if (writer >= seqs_.size()) seqs_.resize(writer + 1);
    if (seqs_[writer] < seq) seqs_[writer] = seq;
  }
  void join(const VersionVector& other) {
    for (WriterIndex w = 0; w < other.seqs_.size(); ++w) raise(w, other.seqs_[w]);
  }
  // One past the largest writer with an entry.
  WriterIndex end() const { return static_cast<WriterIndex>(seqs_.size()); }

  // Missing entries are 0.
  friend bool operator==(const VersionVector& a, const VersionVector& b) { return a.le(b) && b.le(a); }
  bool le(const VersionVector& other) const {
    for (WriterIndex w = 0; w < seqs_.size(); ++w)
      if (seqs_[w] > other.at(w)) return false;
    return true;
  }
  // But for one writer's entry.
  bool le(const VersionVector& other, WriterIndex but) const {
    for (WriterIndex w = 0; w < seqs_.size(); ++w)
      if (w != but && seqs_[w] > other.at(w)) return false;
    return true;
  }

 private:
  std::vector<Seq> seqs_;
};

inline VectorClock withNames(const VersionVector& vector, const WriterTable& writers) {
  VectorClock clock;
  for (const auto& [name, index] : writers.byName()) clock.set(name, vector.at(index));
  return clock;
}

}  // namespace witan::replication
