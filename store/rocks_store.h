// The durable store: RocksDB in a folder, one column family, one process at a time.
//
// Recovery is point-in-time: the write-ahead log is read up to its first damaged record. After a power loss that is
// exactly S4. The price: damage in the middle of a log (a bad disk) drops what follows it. Such a log is kept aside
// first (store/wal_damage.h), and keptDamage() says so. Besides RocksDB's files the folder holds WITAN_FORMAT, the
// version of this layout; files of others are left alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/result.h"
#include "store/store.h"

namespace witan::store {

inline constexpr int kStoreFormat = 1;

struct RocksOptions {
  bool createIfMissing = true;
  // Overwrite zeroes that are on disk already instead of growing the log (store/wal_file_system.h).
  bool preallocateLog = true;
  // Each memory table; up to three exist while one is being written out.
  std::size_t memtableBytes = std::size_t{32} << 20;
  std::size_t blockCacheBytes = std::size_t{32} << 20;
};

// Errors: notFound (no store there and createIfMissing is off), conflict (already open, here or in another process),
// invalidInput (not a folder, or written by a newer Witan), corrupt (files that are missing or are not what was
// written), ioFailed (the operating system refused). Never creates a fresh store over the remains of one.
Result<std::unique_ptr<Store>> openRocksStore(const std::filesystem::path& dir, const RocksOptions& options = {});

}  // namespace witan::store
