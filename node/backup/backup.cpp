#include "node/backup/backup.h"

#include <sys/stat.h>

#include "base/json_codec.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/data_format.h"
#include "node/data_dir/replica_identity.h"
#include "program/durable_file.h"
#include "store/rocks_store.h"
#include "store/store.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFileBytes = 64 << 20;
constexpr store::RocksOptions kCopy{
    .createIfMissing = true, .preallocateLog = false, .memtableBytes = 8 << 20, .blockCacheBytes = 1 << 20};
// RocksDB's own diary and lock, which say nothing about the data.
constexpr const char* kNoData[] = {"LOCK", "LOG", "LOG.old", "IDENTITY"};

Status makeFolder(const fs::path& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  if (ec) return ioFailed("cannot create " + path.string() + " (" + ec.message() + ")");
  if (::chmod(path.c_str(), 0700) != 0) return ioFailed("cannot close " + path.string() + " to others");
  return okStatus();
}

Status copyStore(const StoreSnapshot& part, const fs::path& to, const std::function<bool()>& goOn) {
  {
    WITAN_TRY(target, store::openRocksStore(to / part.store, kCopy));
    WITAN_TRY(rows, store::copyAll(*part.snapshot, *target, goOn));
    (void)rows;
  }
  std::error_code ec;
  for (const char* name : kNoData) fs::remove(to / part.store / name, ec);
  return okStatus();
}

// Names of the kinds that the directory has.
Status copyFiles(const BackupOrder& order) {
  const auto copy = [&](const char* name) -> Status {
    WITAN_TRY(text, readSmallFile(order.dir / name, kMostFileBytes));
    return text ? replaceFile(order.to / name, *text, 0600) : okStatus();
  };
  for (const char* name : kBackupSettings) WITAN_DO(copy(name));
  if (order.keys)
    for (const char* name : kBackupKeys) WITAN_DO(copy(name));
  return okStatus();
}

Result<BackupManifest> write(const BackupOrder& order, const std::vector<StoreSnapshot>& parts,
                             const std::function<bool()>& goOn) {
  BackupManifest manifest;
  WITAN_TRY(format, readDataFormat(order.dir));
  manifest.dataFormat = format;
  WITAN_TRY(identity, readReplicaIdentity(order.dir));
  manifest.cluster = identity.cluster;
  manifest.device = identity.device;
  if (auto cluster = readClusterFile(order.dir); cluster.ok()) manifest.name = cluster->name;
  manifest.program = WITAN_VERSION;
  manifest.at = order.at;
  manifest.keys = order.keys;
  WITAN_DO(makeFolder(order.to));
  for (const StoreSnapshot& part : parts) WITAN_DO(copyStore(part, order.to, goOn));
  WITAN_DO(copyFiles(order));
  WITAN_TRY(files, listFiles(order.to));
  manifest.files = std::move(files);
  WITAN_DO(writeManifest(order.to, manifest));
  return manifest;
}

}  // namespace

Status checkTarget(const BackupOrder& order) {
  if (!order.to.is_absolute()) return invalid("to: expected the absolute path of a new folder");
  // The operating system takes what stands before it, RocksDB all of it: two folders, and a store that looks damaged.
  if (order.to.native().find('\0') != std::string::npos) return invalid("to: a path has no NUL byte");
  std::error_code ec;
  const fs::path dir = fs::weakly_canonical(order.dir, ec), to = fs::weakly_canonical(order.to, ec);
  if (ec) return ioFailed("cannot look at " + order.to.string() + " (" + ec.message() + ")");
  const fs::path below = to.lexically_relative(dir);
  if (!below.empty() && *below.begin() != "..")
    return invalid(order.to.string() + " lies in the data directory",
                   "give a folder elsewhere, better on another disk");
  if (!fs::exists(to, ec)) return okStatus();
  if (!fs::is_directory(to, ec)) return invalid(order.to.string() + " is not a folder");
  if (!fs::is_empty(to, ec) || ec)
    return Error{ErrorCode::conflict, order.to.string() + " is not empty", "give a new folder for each backup"};
  return okStatus();
}

Result<BackupManifest> writeBackup(const BackupOrder& order, const std::vector<StoreSnapshot>& parts,
                                   const std::function<bool()>& goOn) {
  WITAN_DO(checkTarget(order));
  auto manifest = write(order, parts, goOn);
  if (!manifest.ok()) {
    std::error_code ec;
    fs::remove_all(order.to, ec);
  }
  return manifest;
}

Result<BackupManifest> backupOffline(const BackupOrder& order) {
  WITAN_DO(checkTarget(order));
  WITAN_TRY(format, readDataFormat(order.dir));
  (void)format;
  WITAN_TRY(identity, readReplicaIdentity(order.dir));
  (void)identity;
  std::vector<std::unique_ptr<store::Store>> stores;
  std::vector<StoreSnapshot> parts;  // goes before the stores
  for (const char* name : kBackupStores) {
    std::error_code ec;
    if (!fs::exists(order.dir / name, ec)) continue;  // a device without ledgers
    store::RocksOptions reading = kCopy;
    reading.createIfMissing = false;
    WITAN_TRY(store, store::openRocksStore(order.dir / name, reading));
    stores.push_back(std::move(store));
    parts.push_back({name, stores.back()->snapshot()});
  }
  return writeBackup(order, parts);
}

}  // namespace witan::node
