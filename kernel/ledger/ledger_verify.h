// verifyLedger: is this log what it claims to be? Reads a store and trusts nothing in it.
//
// Always: framing and checks, canonical bytes, gap-free numbers, the RFC 6962 tree against every stored checkpoint and
// its signature, the chain of state digests, freezes and resolutions (Theorem 4 viii), one entry per operation id,
// one plan per run (kernel/run_bindings.h), epochs, and in epochs of format 2 the proof of each entry's proposer.
// With a module also: every decision is made again from the entities' beginnings and must come out the same (replay).
// Of a pruned log (kernel/ledger/pruned_log.h) all this holds for the entries that stand; of those before, that their
// hashes have the roots that were signed, and that what they add up to is what was signed.
//
// Pure but for reading; memory is a few hundred bytes per entity and 24 per entry, 40 per run. Used by `witan ledger
// verify`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "kernel/domain_module.h"
#include "kernel/ledger/ledger.h"
#include "kernel/record/signed_note.h"
#include "store/store.h"

namespace witan::kernel {

struct VerifyOptions {
  const DomainModule* replay = nullptr;       // null: no replay
  std::optional<NoteVerifier> checkpointKey;  // none: signatures are not checked, and the report says so
  std::vector<SignedHead> kept;               // verified heads from outside that the log must extend
  bool ofCluster = false;  // the heads name the log as a cluster does (replica/core/log_head.h), not as its format does
  std::function<void(std::uint64_t entries)> progress = {};  // called after each batch with the entries so far
  // All keys of a device, none if they are not known: then its first key counts, from which its id derives.
  std::function<std::vector<PublicKey>(std::string_view device)> keysOf = {};
  // Of a cluster's log: all keys of the device whose copy it is, which signs what stands for entries that it pruned.
  std::vector<PublicKey> copyKeys = {};
};

struct VerifyReport {
  std::uint64_t entries = 0;
  Hash root{};
  std::uint64_t checkpoints = 0;
  bool signaturesChecked = false;
  std::uint64_t signedEntries = 0;  // the first so many are covered by a checkpoint whose signature was checked
  bool replayed = false;
  std::uint64_t prunedEntries = 0;  // whose hashes alone were checked
  std::uint64_t provenEntries = 0;  // whose proposer signed them, by a key that is the proposer's
  // The first thing that is wrong; empty when all is well. badEntry is 0 when it is not about one entry.
  std::string problem;
  std::uint64_t badEntry = 0;

  bool ok() const { return problem.empty(); }
};

// Errors are those of reading the store; a ledger that does not verify is a report, not an error.
Result<VerifyReport> verifyLedger(const store::Reader&, const VerifyOptions& = {});

// The same for an export (docs/ledger-format.md), which has neither epochs nor stored checkpoints; the readable half of
// each line must say what its bytes say. `next`: the next line, none at the end. Without options.kept the invariants'
// names are not known and not checked. Errors: of `next`.
Result<VerifyReport> verifyExport(const std::function<Result<std::optional<std::string>>()>& next,
                                  const VerifyOptions& options);

}  // namespace witan::kernel
