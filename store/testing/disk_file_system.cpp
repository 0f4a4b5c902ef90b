#include "store/testing/disk_file_system.h"

#include <utility>
#include <vector>

namespace witan::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus toRocks(const Error& error) {
  return error.code == ErrorCode::notFound ? IOStatus::NotFound(error.message) : IOStatus::IOError(error.message);
}
IOStatus toRocks(const Status& status) { return status.ok() ? IOStatus::OK() : toRocks(status.error()); }

class Reading {
 public:
  Reading(MemoryDisk& disk, MemoryDisk::FilePtr file) : disk_(disk), file_(std::move(file)) {}
  IOStatus readAt(std::uint64_t offset, std::size_t bytes, Slice* result, char* scratch) const {
    const Result<std::size_t> count = disk_.read(file_, offset, bytes, scratch);
    if (!count.ok()) return toRocks(count.error());
    *result = Slice(scratch, *count);
    return IOStatus::OK();
  }

 private:
  MemoryDisk& disk_;
  const MemoryDisk::FilePtr file_;
};

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(Reading file) : file_(std::move(file)) {}
  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override {
    IOStatus status = file_.readAt(offset_, n, result, scratch);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t n) override {
    offset_ += n;
    return IOStatus::OK();
  }

 private:
  const Reading file_;
  std::uint64_t offset_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(Reading file) : file_(std::move(file)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return file_.readAt(offset, n, result, scratch);
  }

 private:
  const Reading file_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(MemoryDisk& disk, MemoryDisk::FilePtr file) : disk_(disk), file_(std::move(file)) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return toRocks(disk_.append(file_, {data.data(), data.size()}));
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return toRocks(disk_.sync(file_)); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return disk_.size(file_); }
  void PrepareWrite(size_t, size_t, const IOOptions&, IODebugContext*) override {}

 private:
  MemoryDisk& disk_;
  const MemoryDisk::FilePtr file_;
};

class Folder final : public rocksdb::FSDirectory {
 public:
  explicit Folder(MemoryDisk& disk) : disk_(disk) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return toRocks(disk_.syncFolder()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  MemoryDisk& disk_;
};

class Lock final : public rocksdb::FileLock {};

class DiskFileSystem final : public rocksdb::FileSystem {
 public:
  explicit DiskFileSystem(MemoryDisk& disk) : disk_(disk) {}
  const char* Name() const override { return "witan.DiskFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* out, IODebugContext*) override {
    return openAs<SequentialFile>(path, out);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* out, IODebugContext*) override {
    return openAs<RandomAccessFile>(path, out);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions&, std::unique_ptr<rocksdb::FSWritableFile>* out,
                           IODebugContext*) override {
    if (path.find("/OPTIONS-") != std::string::npos) return unsupported("a list of options");
    Result<MemoryDisk::FilePtr> file = disk_.create(path);
    if (!file.ok()) return toRocks(file.error());
    *out = std::make_unique<WritableFile>(disk_, std::move(*file));
    return IOStatus::OK();
  }
  IOStatus NewDirectory(const std::string&, const IOOptions&, std::unique_ptr<rocksdb::FSDirectory>* out,
                        IODebugContext*) override {
    *out = std::make_unique<Folder>(disk_);
    return IOStatus::OK();
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return disk_.exists(path) ? IOStatus::OK() : IOStatus::NotFound(path);
  }
  IOStatus GetChildren(const std::string& folder, const IOOptions&, std::vector<std::string>* out,
                       IODebugContext*) override {
    Result<std::vector<std::string>> names = disk_.names();
    if (!names.ok()) return toRocks(names.error());
    out->clear();
    const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
    for (const std::string& name : *names) {
      if (name.starts_with(prefix)) out->push_back(name.substr(prefix.size()));
    }
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return toRocks(disk_.remove(path));
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&, IODebugContext*) override {
    return toRocks(disk_.rename(from, to));
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, uint64_t* size, IODebugContext*) override {
    const Result<std::uint64_t> found = disk_.sizeOf(path);
    if (!found.ok()) return toRocks(found.error());
    *size = *found;
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string&, const IOOptions&, uint64_t* time, IODebugContext*) override {
    *time = 0;
    return IOStatus::OK();
  }

  IOStatus CreateDir(const std::string&, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus CreateDirIfMissing(const std::string&, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus DeleteDir(const std::string&, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is, IODebugContext*) override {
    *is = !disk_.exists(path);
    return IOStatus::OK();
  }
  IOStatus LockFile(const std::string&, const IOOptions&, rocksdb::FileLock** lock, IODebugContext*) override {
    *lock = new Lock;
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    delete lock;
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override { return unsupported("tests"); }
  IOStatus NewLogger(const std::string&, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return unsupported("RocksDB's own log");
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* out, IODebugContext*) override {
    *out = path;
    return IOStatus::OK();
  }

 private:
  template <class File, class Out>
  IOStatus openAs(const std::string& path, Out* out) {
    Result<MemoryDisk::FilePtr> file = disk_.open(path);
    if (!file.ok()) return toRocks(file.error());
    *out = std::make_unique<File>(Reading(disk_, std::move(*file)));
    return IOStatus::OK();
  }
  static IOStatus unsupported(const char* what) {
    return IOStatus::NotSupported(concat("a disk in memory has no place for ", what));
  }

  MemoryDisk& disk_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> fileSystemOn(MemoryDisk& disk) { return std::make_shared<DiskFileSystem>(disk); }

}  // namespace witan::store
