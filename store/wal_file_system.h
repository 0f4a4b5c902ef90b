// The file system RocksDB's write-ahead log lives on.
//
// No log begins before the one before it is on the disk. RocksDB syncs a log only when somebody syncs a write; where
// two logs have un-synced records, a power loss may leave those of the newer log and not those of the older, which
// breaks S4 (a prefix of the writes survives) and which recovery does not notice.
//
// With preallocation: a log that grows makes every fdatasync commit file metadata as well (size, extents); overwriting
// blocks that are allocated, written and on disk already costs one data write. SQLite's log does this, stock RocksDB
// cannot: its log recycling is switched off under point-in-time recovery. So log files are filled with zeroes a stretch
// ahead of the records. A reader is shown the file up to its first zero header (store/log_record.h), and a file that is
// closed in order is cut to its true length. Every other file goes to the file system below.
//
// Threads and lifetime: as rocksdb::FileSystem; shared by the Env that is built on it.
#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <memory>

namespace witan::store {

// How far ahead of the records zeroes are written.
inline constexpr std::size_t kZeroStretchBytes = std::size_t{1} << 20;

// Over `target` (null: the default file system). With `preallocate`, logs are files of the operating system in any
// case.
std::shared_ptr<rocksdb::FileSystem> walFileSystem(bool preallocate,
                                                   std::shared_ptr<rocksdb::FileSystem> target = nullptr);

}  // namespace witan::store
