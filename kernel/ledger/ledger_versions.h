// A ledger whose rules have versions (rules/domain/versions.h): it goes on under a later one, under which every
// decision before comes out the same. The record "format" is of the version of today; those before stand under
// "format/N", so that checkpoints and entries that were made under them are known.
//
// Used from the strand of the ledger, before it is opened.
#pragma once

#include <functional>
#include <vector>

#include "kernel/ledger/ledger.h"

namespace witan::kernel {

// Oldest first.
Result<std::vector<LedgerFormat>> earlierFormats(const store::Reader&);
// Their module digests, in hex: states that they wrote are read under today's, as beginnings are.
Result<std::vector<std::string>> earlierModules(const store::Reader&);
// Whether a checkpoint says what the format says, or one of those before it.
Status agreesWith(const LedgerFormat& format, const std::vector<LedgerFormat>& earlier, const Checkpoint& checkpoint,
                  std::string_view where);
// Whether the value of a batch holds a decision, or the beginning of an entity. What it cannot read counts as one.
bool holdsDecision(std::string_view batch);
// If the store holds a ledger of the module's domain under other rules, and nothing was decided under them or
// `continues` finds nothing against it, it is of the module's version from now on. Otherwise nothing happens, and
// Ledger::open says why.
Status continueLedger(store::Store&, const DomainModule&,
                      const std::function<Status(const LedgerFormat& existing)>& continues);

}  // namespace witan::kernel
