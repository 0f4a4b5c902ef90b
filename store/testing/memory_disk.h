// MemoryDisk: files in memory that know what a power loss would leave of them. Under store/testing/crashable_rocks.h.
//
// Appended bytes are durable once their file was synced, names (created, renamed, removed) once the folder was. What is
// not durable yet stands in a journal, in the order in which it was done; a crash keeps as much of it as its caller
// says. One folder, whose names are whatever the caller uses.
//
// Every call counts. Calls that change something can be the one at which the power goes. Nothing here looks at a clock
// or at chance.
//
// Threads: any thread may call any member at any time, but crash(), restore() and wipe() run beside nothing else. The
// disk outlives the files that were opened on it only in that a file without its disk must not be used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace witan::store {

// What of the journal a crash keeps.
struct DiskCrash {
  // Everything that was done before this position().
  std::uint64_t upTo = ~std::uint64_t{0};
  // If what was done last of that is an append: only this many bytes of it.
  std::optional<std::size_t> tearLast;
  // Not 0: disks may reorder. Of each file and of the folder an own part, drawn from this seed, of what was done since
  // it was last synced is kept instead.
  std::uint64_t scatter = 0;
};

class MemoryDisk {
 public:
  // An open file; keeps its bytes alive when its name is gone.
  struct File;
  using FilePtr = std::shared_ptr<File>;
  using Content = std::map<std::string, std::string, std::less<>>;

  MemoryDisk();
  ~MemoryDisk();
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // An empty file under this name; another one of this name loses it.
  Result<FilePtr> create(std::string_view name);
  Result<FilePtr> open(std::string_view name);
  Status append(const FilePtr& file, std::string_view bytes);
  Status sync(const FilePtr& file);
  // Up to `bytes` bytes into `out`; returns how many there were.
  Result<std::size_t> read(const FilePtr& file, std::uint64_t offset, std::size_t bytes, char* out);
  std::uint64_t size(const FilePtr& file) const;

  Status rename(std::string_view from, std::string_view to);
  Status remove(std::string_view name);
  Status syncFolder();
  Result<std::uint64_t> sizeOf(std::string_view name);
  bool exists(std::string_view name);
  // In byte order.
  Result<std::vector<std::string>> names();

  // Where the journal ends now, for DiskCrash::upTo.
  std::uint64_t position() const;
  // The power goes: every call fails until crash().
  void powerOff();
  bool hasPower() const;
  // The power goes at the n-th call from now that changes something (0: the next one).
  void crashAtCall(std::uint64_t n);
  // Calls that changed something, since construction.
  std::uint64_t changes() const;
  // Syncs say ok and do nothing, as disks whose cache is not backed by a battery do.
  void lieAboutSyncs(bool lie);

  // Power loss (if it was not gone) and power again. Files that were open are not the disk's any more. Returns whether
  // an append was torn.
  bool crash(const DiskCrash& plan);
  // What a crash that keeps nothing would leave.
  Content durable() const;
  // Names and bytes as they are seen now.
  Content visible() const;
  // The disk becomes this, all durable. With power.
  void become(const Content& content);

  // Called with every call, in words: what, which file, how much. Set before the disk is used.
  using Trace = std::function<void(std::string_view)>;
  void trace(Trace trace) { trace_ = std::move(trace); }

 private:
  using Names = std::map<std::string, FilePtr, std::less<>>;
  // Something that is not durable yet: bytes at the end of a file, or a name that leads elsewhere.
  struct Change {
    std::uint64_t at = 0;
    bool isAppend = false;
    FilePtr file;           // null: the name is gone
    std::size_t bytes = 0;  // appended
    std::string name;
    std::string from;  // renamed: the name that is gone
  };

  // All below: with mutex_ held.
  Status call(const char* what, std::string_view name, std::uint64_t offset = 0, std::uint64_t bytes = 0) const;
  Status change(const char* what, std::string_view name, std::uint64_t bytes = 0);
  void bind(Change change);
  static void bindIn(Names& names, const Change& change);
  std::vector<bool> survivors(const DiskCrash& plan) const;

  mutable std::mutex mutex_;
  Names names_, durableNames_;
  std::vector<Change> journal_;
  std::uint64_t position_ = 0;
  std::uint64_t changes_ = 0;
  std::optional<std::uint64_t> crashAt_;
  bool power_ = true;
  bool syncsLie_ = false;
  Trace trace_;
};

}  // namespace witan::store
