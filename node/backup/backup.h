// A backup: a folder with consistent copies of a data directory's stores, its settings, if asked for its keys, and a
// manifest (node/backup/manifest.h).
//
//   journal/ agents/ ledgers/          as snapshots of one moment saw them, each a store of its own
//   format replica.json cluster.json roster witan.toml policy.toml
//   device.key device.key.previous admin.key cluster.key secrets.witan          with keys
//
// Not in it: the high-water record (a restored device is another writer), control tokens, and invitations, which must
// not come back to life. What is written is readable to its owner alone.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/backup/manifest.h"
#include "node/data_dir/store_snapshot.h"

namespace witan::node {

inline constexpr const char* kBackupStores[] = {"journal", "agents", "ledgers"};
inline constexpr const char* kBackupSettings[] = {"format", "replica.json", "cluster.json",
                                                  "roster", "witan.toml",   "policy.toml"};
inline constexpr const char* kBackupKeys[] = {"device.key", "device.key.previous", "admin.key", "cluster.key",
                                              "secrets.witan"};

struct BackupOrder {
  std::filesystem::path dir, to;
  bool keys = false;
  Time at;
};

// Whether a backup may go there: the absolute path of a folder that does not exist or is empty, outside of the data
// directory.
Status checkTarget(const BackupOrder& order);

// Any thread. On an error, what was begun is removed. `goOn` is asked now and then; no gives it up (unavailable).
// Errors: checkTarget; of reading and writing.
Result<BackupManifest> writeBackup(const BackupOrder& order, const std::vector<StoreSnapshot>& parts,
                                   const std::function<bool()>& goOn = {});

// Of a directory that nobody has open. Errors: conflict if somebody has.
Result<BackupManifest> backupOffline(const BackupOrder& order);

}  // namespace witan::node
