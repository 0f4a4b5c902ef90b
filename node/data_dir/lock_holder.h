// Which process holds a lock file: RocksDB's, so of a data directory that a node has open.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace witan::node {

// 0: none, or not to be found out. Not for the process that may hold it itself: asking would let go of the lock
// (POSIX).
pid_t lockHolder(const std::filesystem::path& file);

}  // namespace witan::node
