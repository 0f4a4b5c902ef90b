#include "store/testing/memory_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/seams.h"

namespace witan::store {

struct MemoryDisk::File {
  std::string name;  // the one it was created under
  std::string bytes;
  std::size_t synced = 0;  // so many of them
};

namespace {

Error absent(std::string_view name) { return {ErrorCode::notFound, concat(name, " is not on the disk"), ""}; }

}  // namespace

MemoryDisk::MemoryDisk() = default;
MemoryDisk::~MemoryDisk() = default;

Status MemoryDisk::call(const char* what, std::string_view name, std::uint64_t offset, std::uint64_t bytes) const {
  if (trace_) trace_(concat(what, " ", name, " ", offset, " ", bytes));
  if (power_) return okStatus();
  return ioFailed(concat(what, " of ", name, " failed (the power was lost)"));
}

Status MemoryDisk::change(const char* what, std::string_view name, std::uint64_t bytes) {
  if (crashAt_ == changes_) power_ = false;
  WITAN_DO(call(what, name, 0, bytes));
  ++changes_;
  return okStatus();
}

void MemoryDisk::bindIn(Names& names, const Change& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (change.file) {
    names.insert_or_assign(change.name, change.file);
  } else {
    names.erase(change.name);
  }
}

void MemoryDisk::bind(Change change) {
  change.at = position_++;
  bindIn(names_, change);
  journal_.push_back(std::move(change));
}

Result<MemoryDisk::FilePtr> MemoryDisk::create(std::string_view name) {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("create", name));
  auto file = std::make_shared<File>();
  file->name = name;
  bind({.file = file, .name = std::string(name)});
  return file;
}

Result<MemoryDisk::FilePtr> MemoryDisk::open(std::string_view name) {
  std::lock_guard lock(mutex_);
  WITAN_DO(call("open", name));
  const auto it = names_.find(name);
  if (it == names_.end()) return absent(name);
  return it->second;
}

Status MemoryDisk::append(const FilePtr& file, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("append", file->name, bytes.size()));
  journal_.push_back({.at = position_++, .isAppend = true, .file = file, .bytes = bytes.size()});
  file->bytes.append(bytes);
  return okStatus();
}

Status MemoryDisk::sync(const FilePtr& file) {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("sync", file->name));
  if (syncsLie_ || file->synced == file->bytes.size()) return okStatus();
  std::erase_if(journal_, [&](const Change& change) { return change.isAppend && change.file == file; });
  file->synced = file->bytes.size();
  return okStatus();
}

Result<std::size_t> MemoryDisk::read(const FilePtr& file, std::uint64_t offset, std::size_t bytes, char* out) {
  std::lock_guard lock(mutex_);
  WITAN_DO(call("read", file->name, offset, bytes));
  const std::size_t from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, file->bytes.size()));
  const std::size_t count = std::min(bytes, file->bytes.size() - from);
  std::memcpy(out, file->bytes.data() + from, count);
  return count;
}

std::uint64_t MemoryDisk::size(const FilePtr& file) const {
  std::lock_guard lock(mutex_);
  return file->bytes.size();
}

Status MemoryDisk::rename(std::string_view from, std::string_view to) {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("rename", from));
  const auto it = names_.find(from);
  if (it == names_.end()) return absent(from);
  bind({.file = it->second, .name = std::string(to), .from = std::string(from)});
  return okStatus();
}

Status MemoryDisk::remove(std::string_view name) {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("remove", name));
  if (names_.find(name) == names_.end()) return absent(name);
  bind({.name = std::string(name)});
  return okStatus();
}

Status MemoryDisk::syncFolder() {
  std::lock_guard lock(mutex_);
  WITAN_DO(change("sync", "the folder"));
  if (syncsLie_) return okStatus();
  std::erase_if(journal_, [](const Change& change) { return !change.isAppend; });
  durableNames_ = names_;
  return okStatus();
}

Result<std::uint64_t> MemoryDisk::sizeOf(std::string_view name) {
  std::lock_guard lock(mutex_);
  WITAN_DO(call("size", name));
  const auto it = names_.find(name);
  if (it == names_.end()) return absent(name);
  return std::uint64_t{it->second->bytes.size()};
}

bool MemoryDisk::exists(std::string_view name) {
  std::lock_guard lock(mutex_);
  return call("exists", name).ok() && names_.find(name) != names_.end();
}

Result<std::vector<std::string>> MemoryDisk::names() {
  std::lock_guard lock(mutex_);
  WITAN_DO(call("list", "the folder"));
  std::vector<std::string> names;
  for (const auto& [name, file] : names_) names.push_back(name);
  return names;
}

std::uint64_t MemoryDisk::position() const {
  std::lock_guard lock(mutex_);
  return position_;
}

void MemoryDisk::powerOff() {
  std::lock_guard lock(mutex_);
  power_ = false;
}

bool MemoryDisk::hasPower() const {
  std::lock_guard lock(mutex_);
  return power_;
}

void MemoryDisk::crashAtCall(std::uint64_t n) {
  std::lock_guard lock(mutex_);
  crashAt_ = changes_ + n;
}

std::uint64_t MemoryDisk::changes() const {
  std::lock_guard lock(mutex_);
  return changes_;
}

void MemoryDisk::lieAboutSyncs(bool lie) {
  std::lock_guard lock(mutex_);
  syncsLie_ = lie;
}

// Which changes of the journal survive. Of one file, and of the names, always the first so many.
std::vector<bool> MemoryDisk::survivors(const DiskCrash& plan) const {
  std::vector<bool> survive;
  if (plan.scatter == 0) {
    for (const Change& change : journal_) survive.push_back(change.at < plan.upTo);
    return survive;
  }
  const auto placeOf = [](const Change& change) { return change.isAppend ? change.file.get() : nullptr; };
  std::vector<std::pair<const File*, std::uint64_t>> left;  // in the order of first appearance, with what may survive
  for (const Change& change : journal_) {
    const auto it = std::ranges::find_if(left, [&](auto& entry) { return entry.first == placeOf(change); });
    if (it == left.end()) {
      left.emplace_back(placeOf(change), 1);
    } else {
      ++it->second;
    }
  }
  SeededRandom random(plan.scatter);
  for (auto& entry : left) entry.second = random.below(entry.second + 1);

  for (const Change& change : journal_) {
    auto& entry = *std::ranges::find_if(left, [&](auto& e) { return e.first == placeOf(change); });
    survive.push_back(entry.second > 0);
    if (entry.second > 0) --entry.second;
  }
  return survive;
}

bool MemoryDisk::crash(const DiskCrash& plan) {
  std::lock_guard lock(mutex_);
  const std::vector<bool> survive = survivors(plan);
  Names names = durableNames_;
  std::map<const File*, std::size_t> kept;  // beyond what is synced
  const Change* last = nullptr;
  for (std::size_t i = 0; i < journal_.size(); ++i) {
    const Change& change = journal_[i];
    if (!survive[i]) continue;
    if (change.isAppend) {
      kept[change.file.get()] += change.bytes;
    } else {
      bindIn(names, change);
    }
    last = &change;
  }
  const bool torn = plan.tearLast && last && last->isAppend && *plan.tearLast < last->bytes;
  if (torn) kept[last->file.get()] -= last->bytes - *plan.tearLast;

  names_.clear();
  for (const auto& [name, file] : names) {
    const auto more = kept.find(file.get());
    const std::size_t size = file->synced + (more == kept.end() ? 0 : more->second);
    names_.emplace(name, std::make_shared<File>(File{name, file->bytes.substr(0, size), size}));
  }
  durableNames_ = names_;
  journal_.clear();
  crashAt_.reset();
  power_ = true;
  return torn;
}

MemoryDisk::Content MemoryDisk::durable() const {
  std::lock_guard lock(mutex_);
  Content content;
  for (const auto& [name, file] : durableNames_) content.emplace(name, file->bytes.substr(0, file->synced));
  return content;
}

MemoryDisk::Content MemoryDisk::visible() const {
  std::lock_guard lock(mutex_);
  Content content;
  for (const auto& [name, file] : names_) content.emplace(name, file->bytes);
  return content;
}

void MemoryDisk::become(const Content& content) {
  std::lock_guard lock(mutex_);
  names_.clear();
  for (const auto& [name, bytes] : content)
    names_.emplace(name, std::make_shared<File>(File{name, bytes, bytes.size()}));
  durableNames_ = names_;
  journal_.clear();
  crashAt_.reset();
  power_ = true;
}

}  // namespace witan::store
