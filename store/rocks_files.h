// What openRocksStore looks at before RocksDB sees the folder, and RocksDB's errors in our words.
//
// For store/rocks_store.cpp and store/wal_damage.cpp only.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::store {

// Makes the folder (if `create`) and checks that RocksDB may open it: it is a folder, in a layout this program knows,
// and not the remains of a store that RocksDB would take for an empty folder and start afresh.
Status prepareRocksFolder(const std::filesystem::path& dir, bool create);

// A small file of the folder. Complete or absent, also after a crash.
Status writeDurably(const std::filesystem::path& file, std::string_view content);

Status syncFile(const std::filesystem::path& file);

// `doing` ends where the path follows: "reading from".
Error rocksError(const rocksdb::Status& status, const std::string& doing, const std::string& where);

// For an error of opening `dir`.
Error rocksOpenError(const rocksdb::Status& status, const std::filesystem::path& dir);

// RocksDB's diary: its warnings, in the file LOG of the folder, the last opening's in LOG.old.
//
// RocksDB's own writer of it stops the process when a write fails and another follows (an assertion, on in Debian's
// package), as on a full disk. Here a line that cannot be written is dropped: the errors that matter are returned.
std::shared_ptr<rocksdb::Logger> openDiary(const std::filesystem::path& dir);

}  // namespace witan::store
