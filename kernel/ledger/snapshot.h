// Snapshots: entity states and operation ids as of some batch of the log, so that a restart replays only the tail.
//
// Derived and lazy: they may be missing, older than the log, or deleted; the log alone is the truth. Each snapshot
// writes what changed since the last one, in one atomic batch with its head. Keys, all under "s":
//   "s/head"              -> SnapshotHead
//   "s/e/" + entity       -> the first part of: u64 bytes of an EntitySnapshot, u64 bytes of all, EntitySnapshot,
//                            canonical JSON of the state; each further part behind the entity, "\n" and its number
//   "s/o/" + u64 number   -> of operation ids decided between two snapshots up to 50,000, 24 bytes each: 16 of the key,
//   u64 answer "s/r/" + u64 number   -> runs bound between two snapshots, 40 bytes each: 16 of the key, 16 of the plan,
//   u64 entry "s/n/" + u64 number   -> NoteList: answers without a decision "s/b/" + u64 number   -> u64 first sequence
//   number of each batch between two snapshots
// Every value starts with the first 8 bytes of SHA-256(0x00 || rest).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/epoch.h"
#include "kernel/record/entry.h"
#include "kernel/record/log_batch.h"
#include "kernel/run_bindings.h"
#include "store/store.h"

namespace witan::kernel {

// A snapshot of another version is thrown away and the whole log folded. Of a pruned log (kernel/ledger/pruned_log.h)
// there is no whole log: a later version reads the ones before, too.
inline constexpr std::uint64_t kSnapshotVersion = 5;
// A store holds values of 256 MiB, and a state may be larger.
inline constexpr std::size_t kSnapshotPartBytes = 4 << 20;
inline constexpr std::size_t kSnapshotChunkRows = 50'000;  // of each kind: 2 MB

struct SnapshotHead {
  std::uint64_t version = kSnapshotVersion;
  std::uint64_t batches = 0;  // of the log that are contained
  std::uint64_t chunks = 0;   // of s/o, s/r, s/n and s/b
  std::uint64_t unsafeCommits = 0;
  std::uint64_t entities = 0;
  Hash module{};
  std::vector<std::uint8_t> frontier;
  std::vector<EpochRecord> epochs;
  std::int64_t latest = 0;
  WITAN_MEMBERS(SnapshotHead, version, batches, chunks, unsafeCommits, entities, module, frontier, epochs, latest)
};

struct EntitySnapshot {
  static constexpr std::size_t textMax = kRecordMax;
  std::uint64_t firstSeq = 0;
  std::uint64_t lastSeq = 0;
  std::uint64_t pendingSeq = 0;
  std::uint64_t notPassing = 0;
  Hash digest{};
  Hash genesisHash{};
  std::string genesis;  // while no entry has carried it
  WITAN_MEMBERS(EntitySnapshot, firstSeq, lastSeq, pendingSeq, notPassing, digest, genesisHash, genesis)
};

struct NoteSnapshot {
  static constexpr std::size_t textMax = kRecordMax;
  std::uint16_t outcome = 0;
  std::string message;
  WITAN_MEMBERS(NoteSnapshot, outcome, message)
};

struct NoteList {
  std::vector<NoteSnapshot> notes;
  WITAN_MEMBERS(NoteList, notes)
};

inline constexpr std::string_view kSnapshotHeadKey = "s/head";
inline constexpr std::string_view kSnapshotEntityPrefix = "s/e/";

// SHA-256 over keys and values in their order, each behind its length in eight bytes.
class RowsDigest {
 public:
  void add(std::string_view key, std::string_view value) {
    for (const std::string_view part : {key, value}) {
      const std::uint64_t size = part.size();
      hash_.update({reinterpret_cast<const char*>(&size), sizeof size});
      hash_.update(part);
      bytes_ += part.size();
    }
  }
  // Of keys and values.
  std::uint64_t bytes() const { return bytes_; }
  Hash finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
  std::uint64_t bytes_ = 0;
};

std::string snapshotChunkKey(char kind, std::uint64_t number);  // kind 'o', 'r', 'n' or 'b'
// Whether a key is one of a snapshot's.
bool isSnapshotKey(std::string_view key);
std::string sealSnapshot(std::string_view payload);
// The payload, or corrupt.
Result<std::string> unsealSnapshot(std::string_view value);

// What a snapshot holds, for who has no code of the domain. Each visit may end it with an error.
struct SnapshotVisit {
  // `state`: canonical JSON.
  std::function<Status(std::string_view entity, EntitySnapshot&, std::string_view state)> entity;
  // First 16 bytes of the SHA-256 of an operation's id that an entry decided; `turnedAway`: as kTurnedAwayBit says.
  std::function<void(const DigestPrefix& key, bool turnedAway)> operation;
  std::function<void(const RunBindings::Row&)> run;
  std::function<void(const std::vector<EpochRecord>&)> epochs = {};  // comes first
};
// Errors: damaged; of the store.
Status visitSnapshot(const store::Reader&, const SnapshotVisit& visit);

}  // namespace witan::kernel
