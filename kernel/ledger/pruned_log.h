// A log whose oldest entries were pruned: of them stand their leaf hashes, as tiles, and what they add up to, under the
// signature of the ledger's key. Proofs of consistency, and the inclusion of what somebody kept elsewhere, are as
// before; the entries themselves are gone here.
//
// Keys, beside the log's own:
//   "pruned"                         -> PrunedLog, sealed as a snapshot is
//   "b" + u64 batches + key          -> the snapshot after so many batches (kernel/ledger/snapshot.h), by its own keys
//   "t" + u64 n                      -> leaf hashes of entries 256 n + 1 to 256 n + 256; the last may have fewer
// All numbers big-endian. What "pruned" does not speak of is what a crash left: nothing reads it.
//
// A ledger of `witan run` is pruned by its owner's word. Of a ledger of a cluster each device prunes its own copy,
// under the signature of its own key, and only what others keep (replica/copy_pruning.h).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "kernel/domain_module.h"
#include "kernel/record/checkpoint.h"
#include "kernel/record/signed_note.h"
#include "store/prefix_store.h"
#include "store/store.h"

namespace witan::kernel {

inline constexpr std::uint64_t kPrunedVersion = 1;

// What stays: an entry that either number keeps. 0: that number keeps none. The last entry always stays.
struct Retention {
  std::uint64_t entries = 0;
  std::uint64_t days = 0;
};

struct EpochStart {
  std::uint64_t number = 0;  // of the epoch
  std::uint64_t batch = 0;   // in which it begins
  WITAN_MEMBERS(EpochStart, number, batch)
};

struct PrunedLog {
  static constexpr std::size_t textMax = 64 << 10;
  std::uint64_t version = kPrunedVersion;
  std::uint64_t batches = 0;  // the first so many are gone
  std::uint64_t entries = 0;  // that were in them
  std::int64_t at = 0;        // microseconds
  std::uint64_t keepEntries = 0, keepDays = 0;
  std::string note;                  // a checkpoint of these entries with a line "state" and the digest of the snapshot
  std::vector<EpochStart> epochs{};  // of a cluster's: those that began in these batches; the digest covers them
  // Of a copy that began here: what two devices signed of it, the one that it has this from and the owner
  // (replica/base_transfer.h).
  std::vector<std::string> vouched{};
  WITAN_MEMBERS(PrunedLog, version, batches, entries, at, keepEntries, keepDays, note, epochs, vouched)
};

// None: nothing was pruned. Errors: corrupt; conflict, of a later version.
Result<std::optional<PrunedLog>> prunedLog(const store::Reader&);
// What is answered to who asks for an entry that is gone: notFound.
Error isPruned(const PrunedLog& pruned);
// Of the entries that are gone, in order. Errors: the visitor's; corrupt, a tile is missing.
Status forEachPrunedLeaf(const store::Reader&, const PrunedLog& pruned,
                         const std::function<Status(const Hash&)>& visit);
// Of one that is gone. Requires: 1 <= seq <= pruned.entries. Errors: corrupt, its tile is missing.
Result<Hash> prunedLeaf(const store::Reader&, std::uint64_t seq);
// Of the tree over them, by the tiles. O(entries). Errors: as forEachPrunedLeaf().
Result<Hash> prunedRoot(const store::Reader&, const PrunedLog& pruned);
// The snapshot after them, by its own keys. The store outlives it.
store::PrefixReads<store::Reader> prunedState(const store::Reader&, const PrunedLog& pruned);
// Its rows. Errors: corrupt, one is of another kind; of the store.
Status forEachStateRow(const store::Reader&, const PrunedLog& pruned,
                       const std::function<void(std::string_view key, std::string_view value)>& visit);
// Whether the snapshot is the one that was signed, of the entries whose tree has this root. `origin`: of the log. Of a
// ledger of `witan run` `key` signed, of a cluster's copy one of `copyKeys`, its device's. Without them the signature
// is not checked. Errors: corrupt.
Status checkPrunedState(const store::Reader&, const PrunedLog& pruned, const Hash& root, std::string_view origin,
                        const std::optional<NoteVerifier>& key, std::span<const PublicKey> copyKeys = {});

struct PruneReport {
  std::uint64_t before = 0;   // entries that were gone before
  std::uint64_t pruned = 0;   // in all, now
  std::uint64_t entries = 0;  // of the whole ledger
};

struct PruneOptions {
  bool ofCluster = false;  // the ledger may have epochs, and the note is one of a copy (kCopyStatement)
  std::uint64_t batches = std::numeric_limits<std::uint64_t>::max();  // none from this one on goes
};

// Prunes what the retention does not keep: whole batches, none with a question that is open or was answered later.
// After a crash or an error everything stands, or is pruned; called again it takes out what was left. Used while no
// Ledger is open on the store. Requires: the ledger was verified, and its decisions made again. O(entries that go, and
// state). Errors: conflict, a ledger of a cluster or of another module; corrupt; of the store.
Result<PruneReport> pruneLog(store::Store&, const DomainModule&, const SigningKey&, const Retention& keep, Time now,
                             const PruneOptions& options = {});
// A log begins by what stands for the first entries of another device's copy: its rows "b" and "t" are in the store,
// and the log's format. Signs it as this device's own. Durable: after a crash there is nothing, or a log of these
// entries. Requires: it was proven that these entries add up to this; the store holds no batch. Errors: corrupt, rows
// are missing; of the store.
Status beginPruned(store::Store&, PrunedLog pruned, std::vector<std::string> vouched, const SigningKey&, Time now);
// Of the batches before `end` the first that is not there. What a power cut left of a prune are later ones: they do not
// count.
Result<std::uint64_t> firstMissing(const store::Reader&, std::uint64_t end);
// Takes out what stands for pruned entries, once their batches are there again; if others vouched for it, what was
// folded from there goes too, and the next opening folds the whole log. Durable. Used while no Ledger is open
// on the store. Errors: corrupt, a batch is missing; of the store.
Status makeWhole(store::Store&);

}  // namespace witan::kernel
