// RunBindings: which plan each run of a ledger is bound to (docs/FINDINGS.md, F3).
//
// Two devices that wake cut off from each other may make two plans for one run, and hence act twice. So the first entry
// that names a run binds it to the plan that it names, for good; a proposal of the run under another plan is rejected
// with witness KERNEL_INTEGRITY, and that entry binds nothing. A table that follows from the entries in their order:
// the partition folds it, verification and replay make it again. 40 bytes a run. Not thread-safe.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernel/domain_module.h"
#include "kernel/record/entry.h"

namespace witan::kernel {

// The first 16 bytes of a digest: of the run key's own SHA-256 (proposers choose run keys), of the plan's digest.
using DigestPrefix = std::array<std::uint64_t, 2>;

struct RunBinding {
  DigestPrefix plan{};
  std::uint64_t entry = 0;  // that bound it
};

class RunBindings {
 public:
  using Row = std::pair<DigestPrefix, RunBinding>;
  using Bytes = std::span<const std::uint8_t>;

  // Why the run may not act by this plan: the message of the rejection; "" if it may. No run: "". O(1).
  std::string objection(Bytes runKey, Bytes planDigest) const;
  // Whether the run is bound to just this plan.
  bool isBoundTo(Bytes runKey, Bytes planDigest) const;
  // Takes note of the next entry; the binding if it made one. Requires: 32 bytes each, or none.
  std::optional<Row> note(const EntryView& entry);

  // Of a snapshot.
  void restore(const Row& row) { table_[row.first] = row.second; }
  std::size_t size() const { return table_.size(); }
  // By key.
  std::vector<Row> rows() const;

 private:
  struct PrefixHash {
    std::size_t operator()(const DigestPrefix& key) const { return key[0]; }
  };
  const RunBinding* find(Bytes runKey) const;

  boost::unordered_flat_map<DigestPrefix, RunBinding, PrefixHash> table_;
};

// What a rejection by the kernel itself looks like: the first of the list, and no other was asked.
void rejectForIntegrity(std::size_t invariants, std::string message, Evaluation& out);

// Was the entry rejected by the kernel itself?
bool isIntegrityRejection(const EntryView& entry);

}  // namespace witan::kernel
