// LedgerReader: entries of a stored log, for commands that read. Needs no domain code, so it also shows a ledger whose
// domain this build does not know; damage is reported where it is met.
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

// Visits all entries in order until visit returns false.
Status forEachEntry(const store::Reader&, const std::function<bool(const StoredEntry&)>& visit);

// The tree of the whole log, for proofs. O(entries).
Result<kernel::MemoryTree> readTree(const store::Reader&);

// The newest stored checkpoint's signed note, if any.
Result<std::optional<std::string>> newestCheckpoint(const store::Reader&);

// One or two lines for people: when, who, what, and how it was decided.
std::string entryStory(const kernel::EntryView&);

}  // namespace witan::node
