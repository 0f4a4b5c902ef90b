#include "node/backup/manifest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "node/data_dir/data_format.h"
#include "program/durable_file.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

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

bool BackupManifest::has(std::string_view path) const {
  return std::any_of(files.begin(), files.end(), [&](const BackupFile& file) { return file.path == path; });
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
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
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
    return Error{ErrorCode::notFound, "no finished backup in " + dir.string() + " (there is no " + kManifestFile + ")",
                 kMadeAnew};
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
    return invalid("the backup " + dir.string() + " was written by a newer Witan (backup format " +
                       std::to_string(format) + "; this program knows up to " + std::to_string(kBackupFormat) + ")",
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
      return damaged(file.path,
                     "has " + std::to_string(at->second.bytes) + " bytes instead of " + std::to_string(file.bytes));
    if (at->second.sha256 != file.sha256) return damaged(file.path, "has other contents than were written");
    there.erase(at);
  }
  if (!there.empty()) return damaged(there.begin()->first, "is not in its manifest");
  if (manifest.dataFormat > kDataFormat)
    return invalid("the backup " + dir.string() + " is of a newer Witan (data format " +
                       std::to_string(manifest.dataFormat) + "; this program knows up to " +
                       std::to_string(kDataFormat) + ")",
                   "use that version of Witan");
  return manifest;
}

}  // namespace witan::node
