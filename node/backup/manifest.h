// What a backup says of itself: DIR/manifest.json, written last, so that a backup without one was not finished.
//
//   {"manifest": {...}, "sha256": hash of the canonical JSON of the member manifest}
//
// Every file of the backup is in it with its size and SHA-256. Reading trusts nothing: paths stay inside the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::node {

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
  std::uint64_t dataFormat = 1;  // node/data_dir/data_format.h
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

}  // namespace witan::node
