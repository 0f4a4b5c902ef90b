#include "store/manifest_end.h"

#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "store/log_record.h"
#include "store/wal_end.h"

namespace witan::store {

namespace fs = std::filesystem;

namespace {

bool recordBehind(std::string_view block, std::size_t at) {
  while (++at < block.size())
    if (logRecordAt(block, at)) return true;
  return false;
}

}  // namespace

Status checkManifestEnd(const fs::path& dir) {
  std::string name;
  if (std::ifstream current(dir / "CURRENT"); !std::getline(current, name) || !name.starts_with("MANIFEST-"))
    return okStatus();
  const fs::path manifest = dir / fs::path(name).filename();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(manifest, error);
  if (error) return okStatus();
  // Of a block that is not the last, RocksDB notices a wrong length itself.
  const std::uintmax_t begin = size / kWalBlockBytes * kWalBlockBytes;
  std::string block(static_cast<std::size_t>(size - begin), '\0');
  std::ifstream in(manifest, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(block.data(), static_cast<std::streamsize>(block.size()));
  if (!in) return okStatus();
  std::size_t at = 0;
  while (const auto record = logRecordAt(block, at)) at += record->bytes;
  if (!lastButForItsLength(block, at) && !recordBehind(block, at)) return okStatus();
  return corrupt("the store " + dir.string() + " is damaged (" + manifest.string() + ": the record at byte " +
                     std::to_string(begin + at) + ")",
                 "restore the folder from a copy");
}

}  // namespace witan::store
