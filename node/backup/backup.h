// A backup: a folder with consistent copies of a data directory's stores, its settings, if asked for its keys, and a
// manifest.
//
//   journal/ agents/ ledgers/          as snapshots of one moment saw them, each a store of its own
//   agents/*.agent.toml agents/versions/*.agent.toml rules/*
//   format replica.json cluster.json roster witan.toml policy.toml market.roots market.grants market.pass
//   device.key device.key.previous admin.key cluster.key secrets.witan market.keys          with keys
//
// Not in it: the high-water record (a restored device is another writer), control tokens, and invitations, which must
// not come back to life. What is written is readable to its owner alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"
#include "net/loop.h"
#include "node/data_dir/replica_store.h"

namespace witan::node {

// The manifest, DIR/manifest.json, is written last, so that a backup without one was not finished.
//
//   {"manifest": {...}, "sha256": hash of the canonical JSON of the member manifest}
//
// Every file of the backup is in it with its size and SHA-256. Reading trusts nothing: paths stay inside the folder.
inline constexpr std::uint64_t kBackupFormat = 1;
inline constexpr const char* kManifestFile = "manifest.json";

struct BackupFile {
  std::string path;  // relative, with '/'
  std::uint64_t bytes = 0;
  std::string sha256;
  WITAN_MEMBERS(BackupFile, path, bytes, sha256)
};

struct BackupManifest {
  std::uint64_t format = kBackupFormat;
  std::uint64_t dataFormat = 1;  // node/data_dir/replica_dir.h
  std::string program;           // version of Witan that wrote it
  std::string cluster, device, name;
  Time at;
  bool keys = false;
  std::vector<BackupFile> files;  // by path
  WITAN_MEMBERS(BackupManifest, format, dataFormat, program, cluster, device, name, at, keys, files)
  bool has(std::string_view path) const;
};

// Size and hash of every file below `dir` but the manifest, each synced. Errors: ioFailed; what is no plain file.
Result<std::vector<BackupFile>> listFiles(const std::filesystem::path& dir);

Status writeManifest(const std::filesystem::path& dir, const BackupManifest& manifest);
// Errors: notFound; corrupt; invalidInput if it is of a newer format.
Result<BackupManifest> readManifest(const std::filesystem::path& dir);
// The manifest, after every byte of the backup was compared with it. Errors: corrupt, naming the file that is missing,
// damaged, or not listed.
Result<BackupManifest> verifyBackup(const std::filesystem::path& dir);

inline constexpr const char* kBackupStores[] = {"journal", "agents", "ledgers"};
inline constexpr const char* kBackupSettings[] = {"format",        "replica.json", "cluster.json", "roster",
                                                  "roster.date",   "witan.toml",   "policy.toml",  "market.roots",
                                                  "market.grants", "market.pass"};
inline constexpr const char* kBackupKeys[] = {"device.key",  "device.key.previous", "admin.key",
                                              "cluster.key", "secrets.witan",       "market.keys"};

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

// BackupJob: a backup of stores that are in use, written by a thread of its own from snapshots, while the node goes on.
//
// Made, asked and destroyed on the loop's thread; `done` is called there, once, unless the job goes before: destroying
// it gives the backup up and waits for the thread. Stores and loop outlive it.
class BackupJob {
 public:
  using Done = std::function<void(Result<BackupManifest>)>;
  BackupJob(net::Loop& loop, BackupOrder order, std::vector<StoreSnapshot> parts, Done done);
  ~BackupJob();
  BackupJob(const BackupJob&) = delete;
  bool finished() const { return finished_; }

 private:
  // What the thread and the loop share; the thread's last word may come after the job is gone.
  struct Shared {
    std::atomic<bool> giveUp{false};
    std::optional<Result<BackupManifest>> result;
    BackupJob* job = nullptr;  // loop's thread only
  };

  const Done done_;
  bool finished_ = false;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::thread thread_;
};

}  // namespace witan::node
