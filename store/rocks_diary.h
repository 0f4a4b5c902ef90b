// RocksDB's diary: its warnings, in the file LOG of the store's folder, the last opening's in LOG.old.
//
// RocksDB's own writer of it stops the process when a write fails and another follows (an assertion, on in Debian's
// package), as on a full disk. Here a line that cannot be written is dropped: the errors that matter are returned.
//
// For store/rocks_store.cpp only. Any thread.
#pragma once

#include <rocksdb/env.h>

#include <filesystem>
#include <memory>

namespace witan::store {

inline constexpr long kDiaryBytes = 1 << 20;

std::shared_ptr<rocksdb::Logger> openDiary(const std::filesystem::path& dir);

}  // namespace witan::store
