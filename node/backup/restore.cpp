#include "node/backup/restore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "node/backup/backup.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/replica_store.h"
#include "replication/writer.h"
#include "store/rocks_store.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStaging = "restoring";
// What belongs to the life before: its high-water record, its invitations, its operators' tokens.
constexpr const char* kOfBefore[] = {"writer", "enrolment.json", "control.json", "control.tokens"};

bool there(const fs::path& path) {
  std::error_code ec;
  return fs::exists(fs::symlink_status(path, ec));
}

Status moved(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  fs::rename(from, to, ec);
  return ec ? Status(ioFailed("moving " + from.string() + " to " + to.string() + " failed (" + ec.message() + ")"))
            : okStatus();
}

Status syncFolder(const fs::path& dir) {
  const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  return synced ? okStatus() : Status(ioFailed("syncing the folder " + dir.string() + " failed"));
}

Status checkUnused(const fs::path& dir) {
  for (const char* name : kBackupStores) {
    if (!there(dir / name)) continue;
    const auto opened = store::openRocksStore(dir / name, {.createIfMissing = false, .preallocateLog = false});
    // Damage is a reason to restore; somebody at work is not.
    if (!opened.ok() && opened.error().code == ErrorCode::conflict) return opened.error();
  }
  return okStatus();
}

bool isTaken(const fs::path& dir) {
  return there(dir / "replica.json") || there(dir / "cluster.json") ||
         std::any_of(std::begin(kBackupStores), std::end(kBackupStores), [&](auto name) { return there(dir / name); });
}

// Keys that stay in the directory must be those of the device in the backup.
Status checkKeptKeys(const RestoreOrder& order, const BackupManifest& manifest) {
  if (manifest.has("device.key") || !there(order.dir / "device.key") || !manifest.has("roster")) return okStatus();
  WITAN_TRY(key, readKey(order.dir, KeyName::device));
  WITAN_TRY(cluster, readClusterFile(order.from));
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(order.from, admin));
  const RosterDevice* device = rosters.current().byKey(key.publicKey());
  if (deviceIdOf(key.publicKey()) == manifest.device || (device != nullptr && device->device == manifest.device))
    return okStatus();
  return Error{
      ErrorCode::conflict,
      (order.dir / "device.key").string() + " is the key of another device than the backup's, " + manifest.device,
      "restore into another directory"};
}

Status stage(const RestoreOrder& order, const BackupManifest& manifest) {
  const fs::path staging = order.dir / kStaging;
  std::error_code ec;
  fs::remove_all(staging, ec);
  fs::create_directories(staging, ec);
  if (!ec && ::chmod(order.dir.c_str(), 0700) != 0) ec = std::error_code(errno, std::generic_category());
  if (ec) return ioFailed("cannot create " + staging.string() + " (" + ec.message() + ")");
  for (const BackupFile& file : manifest.files) {
    const fs::path to = staging / file.path;
    fs::create_directories(to.parent_path(), ec);
    if (!ec) fs::copy_file(order.from / file.path, to, ec);
    if (ec)
      return ioFailed("copying " + file.path + " to " + staging.string() + " failed (" + ec.message() + ")",
                      ec == std::errc::no_space_on_device ? "free some space" : "");
  }
  // What was checked and what was copied are the same bytes, and they are on the disk.
  WITAN_TRY(copies, listFiles(staging));
  const auto same = [](const BackupFile& a, const BackupFile& b) { return a.path == b.path && a.sha256 == b.sha256; };
  if (!std::equal(copies.begin(), copies.end(), manifest.files.begin(), manifest.files.end(), same))
    return corrupt("the backup " + order.from.string() + " changed while it was read");
  if (!there(staging / "ledgers")) return okStatus();
  WITAN_TRY(ledgers, openReplicaStore(staging / "ledgers"));
  return Replica::forgetOwnerName(*ledgers);
}

Result<std::string> setAside(const RestoreOrder& order, const BackupManifest& manifest) {
  std::vector<std::string> names(std::begin(kOfBefore), std::end(kOfBefore));
  names.insert(names.end(), std::begin(kBackupStores), std::end(kBackupStores));
  names.insert(names.end(), std::begin(kBackupSettings), std::end(kBackupSettings));
  for (const char* name : kBackupKeys)
    if (manifest.has(name)) names.emplace_back(name);
  if (std::ranges::any_of(manifest.files, [](const BackupFile& file) { return file.path.starts_with("rules/"); }))
    names.emplace_back("rules");
  std::erase_if(names, [&](const std::string& name) { return !there(order.dir / name); });
  if (names.empty()) return std::string();
  const fs::path aside = order.dir / ("replaced-" + formatTime(order.now.wall));
  std::error_code ec;
  fs::create_directory(aside, ec);
  if (ec) return ioFailed("cannot create " + aside.string() + " (" + ec.message() + ")");
  for (const std::string& name : names) WITAN_DO(moved(order.dir / name, aside / name));
  return aside.string();
}

// cluster.json and replica.json last: they say that there is a node.
Status place(const fs::path& dir) {
  const fs::path staging = dir / kStaging;
  std::vector<std::string> names(std::begin(kBackupStores), std::end(kBackupStores));
  names.insert(names.end(), std::begin(kBackupKeys), std::end(kBackupKeys));
  for (const char* name : {"rules", "format", "roster", "witan.toml", "policy.toml", "cluster.json", "replica.json"})
    names.emplace_back(name);
  for (const std::string& name : names)
    if (there(staging / name)) WITAN_DO(moved(staging / name, dir / name));
  std::error_code ec;
  fs::remove_all(staging, ec);
  return syncFolder(dir);
}

// Opens it as it will be used: takes the new writer, and finds out what nobody decides for any more.
Status begin(const RestoreOrder& order, Restored& done) {
  if (!there(order.dir / "ledgers")) {
    WITAN_TRY(replica, ReplicaDir::open(order.dir));
    done.writer = replica->replica().writer();
    return replica->close();
  }
  WITAN_TRY(cluster, readClusterFile(order.dir));
  NodeSetup setup;
  setup.partitions = static_cast<std::uint32_t>(cluster.partitions);
  WITAN_SET(setup.heads, headKeysAtRest(order.dir));
  WITAN_TRY(node, NodeDir::open(order.dir, std::move(setup), order.now));
  Replica& replica = node->replica();
  done.writer = replica.data().writer();
  if (!replica.damagedPartitions().empty()) return replica.damagedPartitions().begin()->second;
  for (const auto& [id, host] : replica.hosts()) {
    const std::string& owner = host->epoch().owner;
    if (replication::deviceOf(owner) != replica.device() || owner == replica.ownerName()) continue;
    if (!order.seize) {
      done.ownerless.push_back(id);
      continue;
    }
    WITAN_DO(replica.forceTakeover(id, "restored from the backup of " + formatTime(done.manifest.at), order.now));
    ++done.seized;
  }
  return node->close(order.now);
}

}  // namespace

Result<Restored> restoreBackup(const RestoreOrder& order) {
  Restored done;
  WITAN_TRY(manifest, verifyBackup(order.from));
  done.manifest = std::move(manifest);
  if (isTaken(order.dir) && !order.force)
    return conflict(order.dir.string() + " holds a device already",
                    "--force sets what is there aside, in a folder beside it");
  WITAN_DO(checkUnused(order.dir));
  WITAN_DO(checkKeptKeys(order, done.manifest));
  WITAN_DO(stage(order, done.manifest));
  WITAN_SET(done.aside, setAside(order, done.manifest));
  WITAN_DO(place(order.dir));
  for (const char* name : {"cluster.key", "device.key"})
    if (!there(order.dir / name) && (std::string_view(name) == "cluster.key" || there(order.dir / "cluster.json")))
      done.missing.emplace_back(name);
  if (!there(order.dir / "cluster.key")) return done;
  WITAN_DO(begin(order, done));
  return done;
}

}  // namespace witan::node
