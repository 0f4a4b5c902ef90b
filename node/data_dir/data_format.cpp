#include "node/data_dir/data_format.h"

#include <charconv>

#include "base/quote.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::string_view kWords = "witan data ";
constexpr std::size_t kMostBytes = 64;

}  // namespace

Status writeDataFormat(const std::filesystem::path& dir) {
  std::error_code ec;
  if (std::filesystem::exists(dir / kDataFormatFile, ec)) return okStatus();
  return replaceFile(dir / kDataFormatFile, std::string(kWords) + std::to_string(kDataFormat) + "\n", 0644);
}

Result<std::uint64_t> readDataFormat(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / kDataFormatFile;
  WITAN_TRY(text, readSmallFile(file, kMostBytes));
  if (!text) return std::uint64_t{1};
  const std::string_view line = chomped(*text);
  std::uint64_t version = 0;
  const char* const end = line.data() + line.size();
  const bool begins = line.starts_with(kWords);
  const auto [at, failure] = std::from_chars(begins ? line.data() + kWords.size() : end, end, version);
  if (!begins || failure != std::errc{} || at != end || version == 0)
    return corrupt(file.string() + " says " + inQuotes(*text) + ", not " +
                       inQuotes(std::string(kWords) + std::to_string(kDataFormat)),
                   "restore it from a copy");
  if (version > kDataFormat)
    return invalid(file.parent_path().string() + " was written by a newer Witan (data format " +
                       std::to_string(version) + "; this program, " + WITAN_VERSION + ", knows up to " +
                       std::to_string(kDataFormat) + ")",
                   "use that version of Witan, or a backup from before");
  return version;
}

}  // namespace witan::node
