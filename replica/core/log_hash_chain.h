// What tells two logs of a partition apart: their epochs (EpochHistory), and a chain of digests (LogHashChain).
//
// LogHashChain: for each batch of a partition's log one digest of all batches up to it. Two logs with one digest after
// n batches are equal up to there, so that devices find where theirs diverge, also within an epoch (an owner whose disk
// rolled back decides again under numbers it has used), also in records without an entry (beginnings of entities,
// epochs).
//
//   after no batch: SHA-256 of nothing
//   after a batch:  SHA-256 over the digest before it, the batch's header and the headers of its records, which have
//                   eight bytes of each record's own SHA-256 (kernel/record/log_batch.h)
//
// It tells faults apart, not forgeries: those meet the tree over the entries. Rows "h" + u64 big-endian number of
// batches, each with a check, beside the log's own and written with them; they are derived, and made again where they
// are missing or damaged. Used from one strand. The rows and the ledger outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "kernel/epoch.h"
#include "kernel/ledger/ledger.h"
#include "replica/core/messages.h"

namespace witan::node {

Hash chained(const Hash& before, std::string_view batch);
// Eight bytes, in the order of their numbers.
std::string bigEndian(std::uint64_t value);

class LogHashChain {
 public:
  LogHashChain(store::Store& rows, const kernel::Ledger& ledger) : rows_(rows), ledger_(ledger) {}

  // Brings the rows level with a log that was just opened. O(batches without a row); usually one. Errors: the store's.
  Status open();
  // The log has one batch more; the row goes to `out`, which is to be written with it.
  void append(std::string_view batch, store::WriteBatch& out);
  // The log is about to lose all batches from `keep` on. Must be opened again afterwards.
  void cut(std::uint64_t keep, store::WriteBatch& out) const;
  // What append() said is in the store now.
  void written() { unwritten_.clear(); }

  std::uint64_t batches() const { return batches_; }
  const Hash& last() const { return last_; }
  // None: the store fails, or there are not so many batches. O(1), and where rows are damaged O(batches since a good
  // one).
  std::optional<Hash> after(std::uint64_t batches) const;
  // `low` and up to `most` above it, evenly spread, the last at `high` or where the log ends.
  std::vector<LogProbe> between(std::uint64_t low, std::uint64_t high, std::size_t most) const;

 private:
  std::optional<Hash> row(std::uint64_t batches) const;
  // From the greatest number up to `from` that has a good row.
  Result<Hash> fold(std::uint64_t from, std::uint64_t to, store::WriteBatch* out) const;

  store::Store& rows_;
  const kernel::Ledger& ledger_;
  std::uint64_t batches_ = 0;
  Hash last_{};
  std::map<std::uint64_t, Hash> unwritten_;
};

// Where a peer's log and this one diverge, as far as the peer has told: equal up to `low`; if `diverged`, not up to
// `high`.
struct Divergence {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool diverged = false;
};
// Of this log its first `batches` are compared.
Divergence divergenceOf(const LogHashChain& chain, std::uint64_t batches, const LogPosition& theirs);

// The epochs of one partition's log (KIP-101: "leader epochs").
struct EpochHistory {
  std::vector<EpochMark> epochs;  // in order
  std::uint64_t batches = 0;      // of the whole log

  // The last one; number 0 if there is none.
  kernel::Epoch last() const;
  // Under which a batch was written; number 0 before the first.
  kernel::Epoch epochAt(std::uint64_t batch) const;
};

// How many leading batches two logs share, given that nobody forks an epoch of its own. O(epochs).
std::uint64_t commonBatches(const EpochHistory& a, const EpochHistory& b);

// Errors: numbers that do not rise, starts out of order or beyond the log, owners that are no writers.
Status checkEpochHistory(const EpochHistory& lineage);

}  // namespace witan::node
