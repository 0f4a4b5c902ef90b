#include "store/wal_damage.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "store/log_record.h"
#include "store/rocks_files.h"

namespace witan::store {
namespace {

namespace fs = std::filesystem;

// Where a record may stand next that is not at `at`. Of a header the last byte is never zero, so a run of zeroes
// (padding, or what was laid out ahead of the records) is passed in one step.
std::size_t nextCandidate(std::string_view block, std::size_t at) {
  const std::size_t filled = block.find_first_not_of('\0', at);
  if (filled == std::string_view::npos) return block.size();
  return std::max(at + 1, filled + 1 - std::min(filled + 1, kLogHeaderBytes));
}

// Goes through the logs in their order, block by block.
class Search {
 public:
  void begin(const fs::path& log) { log_ = log, offset_ = 0, open_ = false, zeroes_.reset(); }

  void block(std::string_view block) {
    std::size_t at = 0;
    while (block.size() - at >= kLogHeaderBytes) {
      if (const auto record = logRecordAt(block, at)) {
        if (zeroes_) damagedAt(*zeroes_);
        take(record->type);
        at += record->bytes;
        continue;
      }
      open_ = false;
      const std::size_t next = nextCandidate(block, at);  // its length may be what is damaged
      if (next < block.size())
        damagedAt(zeroes_.value_or(offset_ + at));
      else if (!zeroes_)
        zeroes_ = offset_ + at;
      at = next;
    }
    offset_ += block.size();
  }

  std::optional<WalDamage> result() const { return found_ && found_->behind > 0 ? found_ : std::nullopt; }

 private:
  void damagedAt(std::uint64_t offset) {
    if (!found_) found_ = {log_, offset, 0};
  }
  // A write is one full record, or a first, middles and a last.
  void take(LogRecordType type) {
    const bool ends = type == LogRecordType::full || (type == LogRecordType::last && open_);
    open_ = type == LogRecordType::first || (type == LogRecordType::middle && open_);
    if (ends && found_) ++found_->behind;
  }

  fs::path log_;
  std::uint64_t offset_ = 0;
  bool open_ = false;  // a write has begun, and is whole so far
  // Where zeroes begin: the end of a log that was laid out ahead of its records, if nothing of this log follows.
  std::optional<std::uint64_t> zeroes_;
  std::optional<WalDamage> found_;
};

bool isNumbered(const fs::path& path) {
  const std::string stem = path.stem().string();
  return path.extension() == ".log" && !stem.empty() &&
         std::ranges::all_of(stem, [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<fs::path>> logsOf(const fs::path& dir) {
  std::vector<fs::path> logs;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error))
    if (isNumbered(it->path())) logs.push_back(it->path());
  if (error) return ioFailed("reading the folder " + dir.string() + " failed (" + error.message() + ")");
  std::ranges::sort(logs);  // RocksDB's numbers have six digits and, past a million, as many as they need
  std::ranges::stable_sort(logs, {}, [](const fs::path& log) { return log.native().size(); });
  return logs;
}

std::string sentence(const WalDamage& damage, const fs::path& kept, const Status& copied) {
  return concat(
      damage.log.string(), " is damaged at byte ", damage.at, ", and ", damage.behind,
      " whole writes stand behind that: this device went on without them (a bad disk, or a power loss that wrote "
      "pages out of order). What others have of them comes back. The log ",
      copied.ok() ? "is kept as " + kept.string() : "could not be kept (" + copied.error().message + ")");
}

bool recordBehind(std::string_view block, std::size_t at) {
  while (++at < block.size())
    if (logRecordAt(block, at)) return true;
  return false;
}

}  // namespace

Result<std::optional<WalDamage>> findWalDamage(const fs::path& dir) {
  WITAN_TRY(logs, logsOf(dir));
  Search search;
  std::string block(kWalBlockBytes, '\0');
  for (const fs::path& log : logs) {
    search.begin(log);
    std::ifstream in(log, std::ios::binary);
    while (in) {
      in.read(block.data(), static_cast<std::streamsize>(block.size()));
      search.block(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
    }
    if (in.bad() || !in.eof()) return ioFailed("reading " + log.string() + " failed");
  }
  return search.result();
}

Status keepDamagedLog(const fs::path& dir) {
  WITAN_TRY(damage, findWalDamage(dir));
  if (!damage) return okStatus();
  const fs::path kept = dir / ("damaged-" + damage->log.filename().string());
  fs::path words = kept;
  words.replace_extension(".txt");
  std::error_code error;
  if (fs::exists(words, error)) return okStatus();
  fs::copy_file(damage->log, kept, fs::copy_options::overwrite_existing, error);
  const Status copied = error ? Status(ioFailed(error.message())) : syncFile(kept);
  // Last: it says whether the copy is there. Without a copy the store opens; without these words nobody would be told.
  return writeDurably(words, sentence(*damage, kept, copied) + "\n");
}

std::vector<std::string> keptDamage(const fs::path& dir) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const fs::path name = it->path().filename();
    if (name.string().starts_with("damaged-") && name.extension() == ".txt") files.push_back(it->path());
  }
  std::ranges::sort(files);
  std::vector<std::string> sentences;
  for (const fs::path& file : files) {
    std::string text;
    if (std::ifstream in(file); std::getline(in, text)) sentences.push_back(text);
  }
  return sentences;
}

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
  return corrupt(
      concat("the store ", dir.string(), " is damaged (", manifest.string(), ": the record at byte ", begin + at, ")"),
      "restore the folder from a copy");
}

}  // namespace witan::store
