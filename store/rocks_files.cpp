#include "store/rocks_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>

#include "store/rocks_store.h"

namespace witan::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormatFile = "WITAN_FORMAT";
constexpr std::string_view kFormatWords = "witan store ";
constexpr std::size_t kMaxFormatBytes = 64;
constexpr long kDiaryBytes = 1 << 20;

std::string formatLine() { return concat(kFormatWords, kStoreFormat, "\n"); }

Error osError(const std::string& what, const fs::path& path, int error) {
  return ioFailed(what + " " + path.string() + " failed (" + std::strerror(error) + ")");
}

Status writeAndSync(const fs::path& path, std::string_view content) {
  const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return osError("creating", path, errno);
  ssize_t wrote = 0;
  while (!content.empty() && ((wrote = write(fd, content.data(), content.size())) > 0 || (wrote < 0 && errno == EINTR)))
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(wrote, 0)));
  const bool written = content.empty();
  const bool synced = written && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return synced ? okStatus() : Status(osError("writing", path, error));
}

// Of a file, or of a folder with O_DIRECTORY among the flags.
Status syncPath(const fs::path& path, int flags) {
  const std::string what = (flags & O_DIRECTORY) != 0 ? " the folder" : "";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (fd < 0) return osError("opening" + what, path, errno);
  const bool synced = fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return synced ? okStatus() : Status(osError("syncing" + what, path, error));
}

Status checkFormat(const fs::path& dir) {
  const fs::path path = dir / kFormatFile;
  std::ifstream in(path, std::ios::binary);
  std::string content(kMaxFormatBytes, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  if (content == formatLine()) return okStatus();
  int version = 0;
  std::string_view rest(content);
  if (rest.starts_with(kFormatWords)) {
    rest.remove_prefix(kFormatWords.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), version);
    if (error == std::errc() && std::string_view(end, rest.data() + rest.size()) == "\n" && version > kStoreFormat) {
      return invalid(concat("the store ", dir.string(), " was written by a newer Witan (store format ", version,
                            ", this program reads ", kStoreFormat, ")"),
                     "use that version of Witan");
    }
  }
  return corrupt(concat("the store ", dir.string(), " is damaged (", kFormatFile, " does not say \"witan store ",
                        kStoreFormat, "\")"));
}

// The first file that only a store that was once open has; empty if none. An interrupted creation leaves at most the
// first manifest.
std::string traceOfData(const fs::path& dir, std::error_code& error) {
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool numbered = !name.empty() && name[0] >= '0' && name[0] <= '9';
    if (numbered && (name.ends_with(".sst") || name.ends_with(".log"))) return name;
    if (name.starts_with("MANIFEST-") && name != "MANIFEST-000001") return name;
  }
  return {};
}

class Diary final : public rocksdb::Logger {
 public:
  explicit Diary(const std::filesystem::path& path)
      : Logger(rocksdb::WARN_LEVEL), file_(std::fopen(path.c_str(), "we")) {}
  ~Diary() override {
    if (file_ != nullptr) std::fclose(file_);
  }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, std::va_list words) override {
    char line[1024];
    if (std::vsnprintf(line, sizeof line, format, words) < 0) return;
    std::lock_guard lock(mutex_);
    if (file_ == nullptr || std::ftell(file_) > kDiaryBytes) return;
    std::fputs(line, file_);
    std::fputc('\n', file_);
    std::fflush(file_);
  }
  void LogHeader(const char*, std::va_list) override {}

 private:
  std::mutex mutex_;
  std::FILE* file_;  // null when it could not be opened
};

}  // namespace

Status syncFile(const fs::path& file) { return syncPath(file, 0); }

// Written beside, then renamed.
Status writeDurably(const fs::path& file, std::string_view content) {
  const fs::path temporary = file.string() + ".new";
  WITAN_DO(writeAndSync(temporary, content));
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error) return osError("renaming", temporary, error.value());
  return syncPath(file.parent_path(), O_DIRECTORY);
}

Status prepareRocksFolder(const fs::path& dir, bool create) {
  std::error_code error;
  const fs::file_status kind = fs::status(dir, error);
  if (!fs::exists(kind)) {
    if (error && error != std::errc::no_such_file_or_directory) return osError("opening", dir, error.value());
    if (!create) return notFound("there is no store in " + dir.string() + " (the folder does not exist)");
    if (fs::create_directories(dir, error)) fs::permissions(dir, fs::perms::owner_all, error);
    if (error) return osError("creating the folder", dir, error.value());
  } else if (!fs::is_directory(kind)) {
    return invalid("the store path " + dir.string() + " is not a folder");
  }

  const bool hasFormat = fs::exists(dir / kFormatFile, error);
  if (hasFormat) WITAN_DO(checkFormat(dir));
  if (!fs::exists(dir / "CURRENT", error)) {
    const std::string trace = traceOfData(dir, error);
    if (error) return osError("reading the folder", dir, error.value());
    if (!trace.empty()) {
      return corrupt("the store " + dir.string() + " is damaged (CURRENT is missing, but " + trace + " is there)",
                     "restore the folder from a copy");
    }
    if (!create) return notFound("there is no store in " + dir.string());
  } else if (!hasFormat) {
    return corrupt("the store " + dir.string() + " is damaged (" + kFormatFile +
                       " is missing), or it is a RocksDB database of another program",
                   "choose another folder");
  }
  return hasFormat ? okStatus() : writeDurably(dir / kFormatFile, formatLine());
}

Error rocksError(const rocksdb::Status& status, const std::string& doing, const std::string& where) {
  const std::string message = doing + " the store " + where + " failed (" + status.ToString() + ")";
  if (status.IsCorruption()) return corrupt(message, "restore the folder from a copy");
  if (status.IsNoSpace()) return ioFailed(message, "free some space, then reopen the store");
  return ioFailed(message, "reopen the store");
}

Error rocksOpenError(const rocksdb::Status& status, const fs::path& dir) {
  const std::string words = status.ToString();
  const auto says = [&](const char* part) { return words.find(part) != std::string::npos; };
  const std::string store = "the store " + dir.string();
  if (status.IsIOError() && (says("lock hold by current process") || says("LOCK: Resource temporarily unavailable"))) {
    const bool here = says("lock hold by current process");
    return {ErrorCode::conflict, store + " is already open" + (here ? "" : " by another process"),
            here ? "close it first" : "stop that process, or choose another folder"};
  }
  if (says("newer version of RocksDB"))
    return invalid(store + " was written by a newer RocksDB (" + words + ")", "use that version of Witan");
  // The folder named these files itself: their absence, and every form that is not the agreed one, is damage.
  const bool damage = status.IsCorruption() || status.IsInvalidArgument() || status.IsNotFound() ||
                      status.IsNotSupported() || says("No such file or directory");
  if (damage) return corrupt(store + " is damaged (" + words + ")", "restore the folder from a copy");
  return ioFailed("opening " + store + " failed (" + words + ")", status.IsNoSpace() ? "free some space" : "");
}

std::shared_ptr<rocksdb::Logger> openDiary(const std::filesystem::path& dir) {
  std::error_code ignored;
  std::filesystem::rename(dir / "LOG", dir / "LOG.old", ignored);
  return std::make_shared<Diary>(dir / "LOG");
}

}  // namespace witan::store
