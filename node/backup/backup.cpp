#include "node/backup/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/node_dir.h"
#include "node/data_dir/replica_dir.h"
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

// Those that the directory has. A ledger of a rule file cannot be read without it.
Status copyFiles(const BackupOrder& order) {
  const auto copy = [&](const char* name) -> Status {
    WITAN_TRY(text, readSmallFile(order.dir / name, kMostFileBytes));
    return text ? replaceFile(order.to / name, *text, 0600) : okStatus();
  };
  for (const char* name : kBackupSettings) WITAN_DO(copy(name));
  WITAN_TRY(rules, installedRuleFiles(order.dir));
  if (!rules.empty()) WITAN_DO(makeFolder(order.to / "rules"));
  for (const fs::path path : rules) WITAN_DO(copy((fs::path("rules") / path.filename()).c_str()));
  // Beside the store of that name; the versions are what earlier runs replay with.
  for (const fs::path folder : {"agents", "agents/versions"}) {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(order.dir / folder, ec)) {
      if (!entry.is_regular_file(ec) || !entry.path().filename().native().ends_with(".agent.toml")) continue;
      WITAN_DO(makeFolder(order.to / folder));
      WITAN_DO(copy((folder / entry.path().filename()).c_str()));
    }
  }
  if (order.keys)
    for (const char* name : kBackupKeys) WITAN_DO(copy(name));
  return okStatus();
}

Result<BackupManifest> write(const BackupOrder& order, const std::vector<StoreSnapshot>& parts,
                             const std::function<bool()>& goOn) {
  BackupManifest manifest;
  WITAN_SET(manifest.dataFormat, readDataFormat(order.dir));
  WITAN_TRY(identity, readReplicaIdentity(order.dir));
  manifest.cluster = identity.cluster;
  manifest.device = identity.device;
  if (auto cluster = readClusterFile(order.dir); cluster.ok()) manifest.name = cluster->name;
  manifest.program = WITAN_VERSION;
  manifest.at = order.at;
  manifest.keys = order.keys;
  WITAN_DO(makeFolder(order.to));
  if (::chmod(order.to.c_str(), 0700) != 0) return ioFailed("cannot close " + order.to.string() + " to others");
  for (const StoreSnapshot& part : parts) WITAN_DO(copyStore(part, order.to, goOn));
  WITAN_DO(copyFiles(order));
  WITAN_SET(manifest.files, listFiles(order.to));
  WITAN_DO(writeManifest(order.to, manifest));
  return manifest;
}

constexpr std::size_t kMostManifestBytes = 64 << 20;
constexpr const char* kMadeAnew = "make another backup";

Error osError(const std::string& doing, const fs::path& path, int error) {
  return ioFailed(doing + " " + path.string() + " failed (" + std::strerror(error) + ")");
}

Result<BackupFile> measured(const fs::path& root, const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return osError("opening", path, errno);
  BackupFile file{path.lexically_relative(root).generic_string(), 0, ""};
  Sha256 hash;
  std::string piece(1 << 16, '\0');
  ssize_t got = 0;
  while ((got = ::read(fd, piece.data(), piece.size())) > 0) {
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    file.bytes += static_cast<std::uint64_t>(got);
  }
  int error = got < 0 ? errno : 0;
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  ::close(fd);
  if (error != 0) return osError("reading", path, error);
  file.sha256 = toHex(hash.finish());
  return file;
}

// Of a file that was read, not made: whoever wrote it may be hostile.
Status checkPath(const std::string& path) {
  const fs::path parsed(path);
  bool good = !path.empty() && parsed.is_relative() && parsed.lexically_normal() == parsed && path.back() != '/';
  for (const fs::path& part : parsed) good = good && part != "..";
  return good ? okStatus() : Status(corrupt("the manifest names " + inQuotes(path) + ", no file of a backup"));
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
  if (fs::is_symlink(order.to, ec)) return invalid(order.to.string() + " is a symbolic link", "give the folder itself");
  if (!fs::exists(to, ec)) return okStatus();
  if (!fs::is_directory(to, ec)) return invalid(order.to.string() + " is not a folder");
  if (!fs::is_empty(to, ec) || ec)
    return conflict(order.to.string() + " is not empty", "give a new folder for each backup");
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

BackupJob::BackupJob(net::Loop& loop, BackupOrder order, std::vector<StoreSnapshot> parts, Done done)
    : done_(std::move(done)) {
  shared_->job = this;
  thread_ = std::thread([&loop, order = std::move(order), parts = std::move(parts), shared = shared_]() mutable {
    shared->result = writeBackup(order, parts, [&] { return !shared->giveUp.load(); });
    parts.clear();  // snapshots, before anybody may close their stores
    loop.post([shared] {
      if (shared->job == nullptr) return;
      shared->job->finished_ = true;
      shared->job->done_(std::move(*shared->result));
    });
  });
}

BackupJob::~BackupJob() {
  shared_->giveUp = true;
  shared_->job = nullptr;
  thread_.join();
}

bool BackupManifest::has(std::string_view path) const {
  return std::ranges::any_of(files, [&](const BackupFile& file) { return file.path == path; });
}

Result<std::vector<BackupFile>> listFiles(const fs::path& dir) {
  std::vector<BackupFile> files;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(dir, ec), end; !ec && at != end; at.increment(ec)) {
    if (at->is_directory(ec) && !at->is_symlink(ec)) continue;
    if (at->path() == dir / kManifestFile) continue;
    if (!at->is_regular_file(ec) || at->is_symlink(ec)) return corrupt(at->path().string() + " is no plain file");
    WITAN_TRY(file, measured(dir, at->path()));
    files.push_back(std::move(file));
  }
  if (ec) return osError("reading the folder", dir, ec.value());
  std::ranges::sort(files, [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

Status writeManifest(const fs::path& dir, const BackupManifest& manifest) {
  const std::string text = toJson(manifest);
  return replaceFile(dir / kManifestFile, "{\"manifest\":" + text + ",\"sha256\":\"" + toHex(sha256(text)) + "\"}\n",
                     0600);
}

Result<BackupManifest> readManifest(const fs::path& dir) {
  const fs::path path = dir / kManifestFile;
  WITAN_TRY(text, readSmallFile(path, kMostManifestBytes));
  if (!text)
    return notFound("no finished backup in " + dir.string() + " (there is no " + kManifestFile + ")", kMadeAnew);
  const auto damaged = [&](const std::string& why) { return corrupt(path.string() + " is damaged (" + why + ")"); };
  auto parsed = parseJson(*text, {.bytes = kMostManifestBytes, .depth = 8});
  if (!parsed.ok()) return damaged(parsed.error().message);
  const json::object* whole = parsed->if_object();
  const json::value* body = whole == nullptr ? nullptr : whole->if_contains("manifest");
  const json::value* hash = whole == nullptr ? nullptr : whole->if_contains("sha256");
  if (body == nullptr || hash == nullptr || !body->is_object() || !hash->is_string() || whole->size() != 2)
    return damaged("it is no manifest");
  if (toHex(sha256(canonicalJson(*body))) != std::string_view(hash->get_string()))
    return damaged("its hash is another one");
  std::uint64_t format = 0;
  if (const json::value* given = body->get_object().if_contains("format"); given != nullptr)
    if (Status read = readJson(*given, format, "format"); !read.ok()) return damaged(read.error().message);
  if (format > kBackupFormat)
    return invalid(concat("the backup ", dir.string(), " was written by a newer Witan (backup format ", format,
                          "; this program knows up to ", kBackupFormat, ")"),
                   "use that version of Witan");
  BackupManifest manifest;
  if (Status read = readJson(*body, manifest, "manifest"); !read.ok()) return damaged(read.error().message);
  for (const BackupFile& file : manifest.files) WITAN_DO(checkPath(file.path));
  return manifest;
}

Result<BackupManifest> verifyBackup(const fs::path& dir) {
  WITAN_TRY(manifest, readManifest(dir));
  WITAN_TRY(files, listFiles(dir));
  std::map<std::string, BackupFile> there;
  for (BackupFile& file : files) there.emplace(file.path, std::move(file));
  const auto damaged = [&](const std::string& path, const std::string& why) {
    return corrupt("the backup " + dir.string() + " is damaged (" + path + " " + why + ")",
                   "nothing was restored; take another backup");
  };
  for (const BackupFile& file : manifest.files) {
    const auto at = there.find(file.path);
    if (at == there.end()) return damaged(file.path, "is missing");
    if (at->second.bytes != file.bytes)
      return damaged(file.path, concat("has ", at->second.bytes, " bytes instead of ", file.bytes));
    if (at->second.sha256 != file.sha256) return damaged(file.path, "has other contents than were written");
    there.erase(at);
  }
  if (!there.empty()) return damaged(there.begin()->first, "is not in its manifest");
  if (manifest.dataFormat > kDataFormat)
    return invalid(concat("the backup ", dir.string(), " is of a newer Witan (data format ", manifest.dataFormat,
                          "; this program knows up to ", kDataFormat, ")"),
                   "use that version of Witan");
  return manifest;
}

}  // namespace witan::node
