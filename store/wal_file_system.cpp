#include "store/wal_file_system.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "base/concat.h"
#include "store/log_record.h"

namespace witan::store {
namespace {

using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus failed(const char* what, const std::string& path) {
  const int error = errno;
  const std::string words = concat("while ", what, ": ", path);
  if (error == ENOSPC) return IOStatus::NoSpace(words, std::strerror(error));
  return IOStatus::IOError(words, std::strerror(error));
}

// One log file. RocksDB calls Append from one thread at a time and Sync possibly beside it.
class PreallocatedFile final : public FSWritableFile {
 public:
  PreallocatedFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PreallocatedFile() override {
    if (fd_ >= 0) (void)Close(IOOptions(), nullptr);
  }

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const std::uint64_t size = size_.load(std::memory_order_relaxed);
    if (size + data.size() > zeroedTo_) {
      if (IOStatus status = zeroAhead(size + data.size()); !status.ok()) return status;
    }
    if (IOStatus status = writeAt(size, data.data(), data.size()); !status.ok()) return status;
    size_.store(size + data.size(), std::memory_order_relaxed);
    return IOStatus::OK();
  }

  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    if (ftruncate(fd_, static_cast<off_t>(size)) != 0) return failed("cutting the log file", path_);
    size_ = size;
    zeroedTo_ = size;
    return IOStatus::OK();
  }

  // Cuts the zeroes off, so that only a log that was not closed in order ends in them.
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    IOStatus status = Truncate(size_, options, context);
    if (close(fd_) != 0 && status.ok()) status = failed("closing the log file", path_);
    fd_ = -1;
    return status;
  }

  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return fdatasync(fd_) == 0 ? IOStatus::OK() : failed("syncing the log file", path_);
  }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return fsync(fd_) == 0 ? IOStatus::OK() : failed("syncing the log file", path_);
  }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

  // RocksDB's own hints: allocated-but-unwritten blocks are what is avoided here, and data goes out with Sync.
  void PrepareWrite(size_t, size_t, const IOOptions&, IODebugContext*) override {}
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  // Zeroes from the end of what is zeroed to a stretch beyond `needed`; what the record overwrites at once is not
  // zeroed first. The sync that follows the record covers them.
  IOStatus zeroAhead(std::uint64_t needed) {
    static const std::string zeroes(kZeroStretchBytes, '\0');
    const std::uint64_t to = (needed / kZeroStretchBytes + 1) * kZeroStretchBytes;
    const std::uint64_t from = std::max(zeroedTo_, needed);
    if (IOStatus status = writeAt(from, zeroes.data(), to - from); !status.ok()) return status;
    zeroedTo_ = to;
    return IOStatus::OK();
  }

  IOStatus writeAt(std::uint64_t offset, const char* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t done = pwrite(fd_, data, bytes, static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return failed("writing the log file", path_);
      data += done;
      offset += static_cast<std::uint64_t>(done);
      bytes -= static_cast<std::size_t>(done);
    }
    return IOStatus::OK();
  }

  int fd_;
  const std::string path_;
  std::atomic<std::uint64_t> size_{0};  // of the records
  std::uint64_t zeroedTo_ = 0;          // of the file
};

// A log file as RocksDB reads it in recovery: up to `end`.
class EndedFile final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  EndedFile(std::unique_ptr<rocksdb::FSSequentialFile>&& file, std::uint64_t end)
      : FSSequentialFileOwnerWrapper(std::move(file)), left_(end) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch, IODebugContext* context) override {
    const size_t bytes = static_cast<size_t>(std::min<std::uint64_t>(n, left_));
    IOStatus status = FSSequentialFileOwnerWrapper::Read(bytes, options, result, scratch, context);
    if (status.ok()) left_ -= result->size();
    return status;
  }
  IOStatus Skip(uint64_t n) override {
    const std::uint64_t bytes = std::min(n, left_);
    left_ -= bytes;
    return FSSequentialFileOwnerWrapper::Skip(bytes);
  }

 private:
  std::uint64_t left_;
};

// The log that is written now, so that it can be synced before the next one begins.
class CurrentLog {
 public:
  void opened(FSWritableFile* file) {
    std::lock_guard lock(mutex_);
    file_ = file;
  }
  void closing(FSWritableFile* file) {
    std::lock_guard lock(mutex_);
    if (file_ == file) file_ = nullptr;
  }
  IOStatus sync(const IOOptions& options, IODebugContext* context) {
    std::lock_guard lock(mutex_);
    return file_ ? file_->Sync(options, context) : IOStatus::OK();
  }

 private:
  std::mutex mutex_;
  FSWritableFile* file_ = nullptr;
};

class LogFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LogFile(std::unique_ptr<FSWritableFile>&& file, std::shared_ptr<CurrentLog> current)
      : FSWritableFileOwnerWrapper(std::move(file)), current_(std::move(current)) {
    current_->opened(this);
  }
  ~LogFile() override { current_->closing(this); }
  IOStatus Close(const IOOptions& options, IODebugContext* context) override {
    current_->closing(this);
    return FSWritableFileOwnerWrapper::Close(options, context);
  }

 private:
  const std::shared_ptr<CurrentLog> current_;  // files may outlive their file system
};

class WalFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  WalFileSystem(std::shared_ptr<rocksdb::FileSystem> target, bool preallocate)
      : FileSystemWrapper(std::move(target)), preallocate_(preallocate) {}
  const char* Name() const override { return "witan.WalFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* context) override {
    if (!path.ends_with(".log")) return FileSystemWrapper::NewWritableFile(path, options, file, context);
    IOStatus status = current_->sync(options.io_options, context);
    if (status.ok()) status = newLog(path, options, file, context);
    if (status.ok()) *file = std::make_unique<LogFile>(std::move(*file), current_);
    return status;
  }

  // Also without preallocation now: the log may have been written with it.
  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file, IODebugContext* context) override {
    IOStatus status = FileSystemWrapper::NewSequentialFile(path, options, file, context);
    if (!status.ok() || !path.ends_with(".log")) return status;
    std::uint64_t end = 0;
    status = findEnd(path, options, context, &end);
    if (status.ok()) *file = std::make_unique<EndedFile>(std::move(*file), end);
    return status;
  }

 private:
  IOStatus newLog(const std::string& path, const rocksdb::FileOptions& options, std::unique_ptr<FSWritableFile>* file,
                  IODebugContext* context) {
    if (!preallocate_) return FileSystemWrapper::NewWritableFile(path, options, file, context);
    const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) return failed("creating the log file", path);
    *file = std::make_unique<PreallocatedFile>(fd, path);
    return IOStatus::OK();
  }

  IOStatus findEnd(const std::string& path, const rocksdb::FileOptions& options, IODebugContext* context,
                   std::uint64_t* end) {
    std::unique_ptr<rocksdb::FSSequentialFile> file;
    IOStatus status = FileSystemWrapper::NewSequentialFile(path, options, &file, context);
    std::string scratch(kWalBlockBytes, '\0');
    for (*end = 0; status.ok();) {
      Slice block;
      status = file->Read(kWalBlockBytes, options.io_options, &block, scratch.data(), context);
      const std::optional<std::size_t> endHere = findWalEnd({block.data(), block.size()});
      *end += endHere.value_or(block.size());
      if (endHere || block.size() < kWalBlockBytes) break;
    }
    return status;
  }

  const bool preallocate_;
  const std::shared_ptr<CurrentLog> current_ = std::make_shared<CurrentLog>();
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> walFileSystem(bool preallocate, std::shared_ptr<rocksdb::FileSystem> target) {
  return std::make_shared<WalFileSystem>(target ? std::move(target) : rocksdb::FileSystem::Default(), preallocate);
}

}  // namespace witan::store
