// Whole records behind a damaged one in the write-ahead logs of a RocksDB folder.
//
// Point-in-time recovery reads a log up to its first damaged record and drops what follows (store/rocks_store.h). Where
// nothing whole follows, that is the torn end that every crash may leave. Where something does, a disk has damaged what
// it had, or a power loss wrote un-synced pages in the disk's own order: the bytes are the same, so opening goes on,
// but not in silence. openRocksStore keeps such a log as damaged-NNNNNN.log in the store's folder, with a sentence
// beside it in damaged-NNNNNN.txt, before RocksDB deletes the log; whoever opens the store tells its operator of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace witan::store {

struct WalDamage {
  std::filesystem::path log;
  std::uint64_t at = 0;      // offset of the first damaged record
  std::uint64_t behind = 0;  // whole writes after it, also in later logs; at least 1
};

// Reads all logs of the folder, which no process has open. O(their bytes); a damaged block is searched byte by byte.
Result<std::optional<WalDamage>> findWalDamage(const std::filesystem::path& dir);

// Copies such a log aside, durably; nothing to do if there is none, or that very log has been kept before. Errors: of
// reading, and of writing the sentence, which also says if the copy could not be made.
Status keepDamagedLog(const std::filesystem::path& dir);

// The sentences of what was kept, by the names of their files. For operators; they go when somebody deletes the files.
std::vector<std::string> keptDamage(const std::filesystem::path& dir);

// The end of the folder's manifest, the log of which files the store is made of. RocksDB takes a record that is longer
// than its file for one that a crash tore, and goes on without it and what stands behind it. A torn record has less
// than its payload, and nothing behind it; any other is one whose length a disk has damaged. Going on would drop the
// newest tables of the store, and delete their files. Errors: corrupt, naming the file and the byte. A folder without a
// manifest is RocksDB's to judge. O(32 KiB), where a record is damaged its square.
Status checkManifestEnd(const std::filesystem::path& dir);

}  // namespace witan::store
