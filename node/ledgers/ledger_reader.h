// LedgerReader: entries of a stored log, for commands that read. Needs no domain code, so it also shows a ledger whose
// domain this build does not know; damage is reported where it is met. Of a pruned log (kernel/ledger/pruned_log.h) it
// reads what stands, and the tree of all; who asks for an entry that is gone is told so (notFound).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel/ledger/ledger.h"
#include "kernel/record/entry.h"
#include "kernel/record/merkle.h"

namespace witan::node {

struct StoredEntry {
  std::uint64_t seq = 0;
  std::string_view bytes;  // borrowed for the visit
  Hash leaf{};
  kernel::EntryView entry;  // borrowed likewise
};
using EntryVisit = std::function<void(const StoredEntry&)>;

// Visits all entries in order until visit returns false.
Status forEachEntry(const store::Reader&, const std::function<bool(const StoredEntry&)>& visit);

// Visits the entries of one batch.
Status visitBatch(const store::Reader&, std::uint64_t number, const EntryVisit& visit);

// The newest `count` entries that `takes` accepts, visited oldest first. Reads from the end: O(entries read).
Status visitNewest(const store::Reader&, std::size_t count, const std::function<bool(const StoredEntry&)>& takes,
                   const EntryVisit& visit);

// Visits the entry with this number. False: there is none. O(log batches).
Result<bool> visitEntry(const store::Reader&, std::uint64_t seq, const EntryVisit& visit);

// The last of the first `batches` batches that begins at or before entry `seq`; batches without entries begin where the
// next one does. O(log batches) reads.
Result<std::uint64_t> batchWith(const store::Reader&, std::uint64_t batches, std::uint64_t seq);

// The tree of the whole log, for proofs. O(entries).
Result<kernel::MemoryTree> readTree(const store::Reader&);

// The newest stored checkpoint's signed note, if any.
Result<std::optional<std::string>> newestCheckpoint(const store::Reader&);

// One or two lines for people: when, who, what, and how it was decided.
std::string entryStory(const kernel::EntryView&);

}  // namespace witan::node
