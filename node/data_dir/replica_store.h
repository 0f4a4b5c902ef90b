// The stores of a data directory: RocksDB, with little memory each, so that a command costs little.
//
// openReplicaStore() is alone in its file: a test program brings another one, that kills the process at a chosen write
// (tests/crash/killing_store.cpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/rocks_store.h"
#include "store/store.h"

namespace witan::node {

inline constexpr store::RocksOptions kReplicaStore{
    .createIfMissing = true, .preallocateLog = false, .memtableBytes = 4 << 20, .blockCacheBytes = 4 << 20};

// One of its stores, made if need be. Errors: conflict if another process has it open.
Result<std::unique_ptr<store::Store>> openReplicaStore(const std::filesystem::path& path);

// One of a data directory's stores at one moment.
struct StoreSnapshot {
  std::string store;  // "journal", "agents" or "ledgers"
  std::unique_ptr<store::Snapshot> snapshot;
};

}  // namespace witan::node
