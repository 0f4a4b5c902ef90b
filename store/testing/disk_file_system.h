// A MemoryDisk as RocksDB's file system. For store/testing/crashable_rocks.cpp.
//
// Every folder seems to be there; there are no locks between openers and no log of RocksDB's own. Its list of options
// is refused, which RocksDB forgives: nobody reads it, and writing and checking it takes half of an opening. The disk
// outlives the file system and all its files.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>

#include "store/testing/memory_disk.h"

namespace witan::store {

std::shared_ptr<rocksdb::FileSystem> fileSystemOn(MemoryDisk& disk);

}  // namespace witan::store
