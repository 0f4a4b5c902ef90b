#include "store/memory_store.h"

#include <algorithm>
#include <utility>

namespace witan::store {

// One moment of the map. Taken and given back under the store's mutex, so that a writer that finds itself the only
// owner may change the map in place.
class MemoryStore::View {
 public:
  View(const MemoryStore& store, const std::lock_guard<std::mutex>&) : store_(store), map_(store.visible_) {}
  ~View() {
    std::lock_guard lock(store_.mutex_);
    map_.reset();
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const Map& map() const { return *map_; }

 private:
  const MemoryStore& store_;
  std::shared_ptr<const Map> map_;
};

namespace {

template <class Map>
std::optional<std::string> find(const Map& map, std::string_view key) {
  auto it = map.find(key);
  if (it == map.end()) return std::nullopt;
  return *it->second;
}

template <class Map>
void visitAll(const Map& map, std::string_view prefix, std::string_view from, const Visitor& visit) {
  for (auto it = map.lower_bound(std::max(prefix, from)); it != map.end(); ++it) {
    if (!it->first.starts_with(prefix) || !visit(it->first, *it->second)) return;
  }
}

template <class Map>
std::optional<KeyValue> findLast(const Map& map, std::string_view prefix) {
  std::optional<std::string> end = prefixEnd(prefix);
  auto it = end ? map.lower_bound(*end) : map.end();
  if (it == map.begin()) return std::nullopt;
  --it;
  if (!it->first.starts_with(prefix)) return std::nullopt;
  return KeyValue(it->first, *it->second);
}

}  // namespace

class MemorySnapshot final : public Snapshot {
 public:
  MemorySnapshot(const MemoryStore& store, const std::lock_guard<std::mutex>& lock)
      : store_(store), count_(store), view_(store, lock) {}

  Result<std::optional<std::string>> get(std::string_view key) const override {
    WITAN_DO(store_.countRead());
    return find(view_.map(), key);
  }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    WITAN_DO(store_.countRead());
    visitAll(view_.map(), prefix, from, visit);
    return okStatus();
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override {
    WITAN_DO(store_.countRead());
    return findLast(view_.map(), prefix);
  }

 private:
  const MemoryStore& store_;
  MemoryStore::SnapshotCount count_;
  MemoryStore::View view_;
};

MemoryStore::MemoryStore() : CrashableStore("the memory store"), visible_(std::make_shared<Map>()) {}

Result<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
  std::lock_guard lock(mutex_);
  WITAN_DO(countReadLocked());
  return find(*visible_, key);
}

Status MemoryStore::scan(std::string_view prefix, std::string_view from, const Visitor& visit) const {
  std::optional<View> view;
  {
    std::lock_guard lock(mutex_);
    WITAN_DO(countReadLocked());
    view.emplace(*this, lock);
  }
  visitAll(view->map(), prefix, from, visit);  // without the mutex: the visitor may write
  return okStatus();
}

Result<std::optional<KeyValue>> MemoryStore::last(std::string_view prefix) const {
  std::lock_guard lock(mutex_);
  WITAN_DO(countReadLocked());
  return findLast(*visible_, prefix);
}

std::unique_ptr<Snapshot> MemoryStore::snapshot() const {
  std::lock_guard lock(mutex_);
  return std::make_unique<MemorySnapshot>(*this, lock);
}

Status MemoryStore::applyWrite(const WriteBatch& batch) {
  apply(batch, &unsynced_.emplace_back());
  return okStatus();
}

Status MemoryStore::applySync() {
  unsynced_.clear();
  return okStatus();
}

// Where no fault can come between the two steps, nothing needs to know how to undo the first.
Status MemoryStore::writeSynced(const WriteBatch& batch) {
  WITAN_DO(checkLimits(batch));
  {
    std::lock_guard lock(mutex_);
    const std::uint64_t steps = batch.empty() ? 1 : 2;
    if (!closed() && !strikes(steps)) {
      pass(steps);
      apply(batch, nullptr);
      return applySync();
    }
  }
  return CrashableStore::writeSynced(batch);
}

MemoryStore::Map& MemoryStore::writable() {
  if (visible_.use_count() > 1) visible_ = std::make_shared<Map>(*visible_);
  return *visible_;
}

void MemoryStore::apply(const WriteBatch& batch, Changes* undo) {
  Map& map = writable();
  if (undo) undo->reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const WriteBatch::Op op = batch.op(i);
    const bool isPut = op.kind == WriteBatch::Kind::put;
    auto it = map.lower_bound(op.key);
    const bool isThere = it != map.end() && it->first == op.key;
    if (undo) undo->push_back({std::string(op.key), isThere ? it->second : nullptr, isPut});
    if (!isPut) {
      if (isThere) map.erase(it);
    } else if (isThere) {
      it->second = std::make_shared<const std::string>(op.value);
    } else {
      map.emplace_hint(it, std::string(op.key), std::make_shared<const std::string>(op.value));
    }
  }
}

void MemoryStore::undo(const Changes& changes, Map& map) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (change->before) {
      map.insert_or_assign(change->key, change->before);
    } else {
      map.erase(change->key);
    }
  }
}

bool MemoryStore::tear(const Changes& changes, std::size_t bytes) {
  const auto put = std::find_if(changes.rbegin(), changes.rend(), [](const Change& change) { return change.put; });
  if (put == changes.rend()) return false;
  Map& map = writable();
  const auto it = map.find(put->key);
  if (it == map.end() || bytes >= it->second->size()) return false;  // not there: the batch erased it again
  it->second = std::make_shared<const std::string>(it->second->substr(0, bytes));
  return true;
}

CrashReport MemoryStore::crash(const CrashPlan& plan) {
  std::lock_guard lock(mutex_);
  checkNoSnapshots();
  CrashReport report;
  report.kept = std::min(plan.keepUnsynced, unsynced_.size());
  report.lost = unsynced_.size() - report.kept;
  for (; unsynced_.size() > report.kept; unsynced_.pop_back()) undo(unsynced_.back(), writable());
  if (plan.tearLastValue && report.kept > 0) report.torn = tear(unsynced_.back(), *plan.tearLastValue);
  unsynced_.clear();
  resetFaults();
  return report;
}

bool MemoryStore::isDurable(const std::string& key) const {
  for (const Changes& changes : unsynced_) {
    for (const Change& change : changes) {
      if (change.key == key) return false;
    }
  }
  return true;
}

std::optional<std::string> MemoryStore::rot(std::uint64_t n, std::uint64_t m) {
  std::lock_guard lock(mutex_);
  const auto canRot = [&](const Map::value_type& record) { return !record.second->empty() && isDurable(record.first); };
  const auto count = static_cast<std::uint64_t>(std::count_if(visible_->begin(), visible_->end(), canRot));
  if (count == 0 || closed()) return std::nullopt;
  Map& map = writable();
  auto it = std::ranges::find_if(map, canRot);
  for (n %= count; n > 0; --n) it = std::find_if(std::next(it), map.end(), canRot);
  std::string value = *it->second;
  const std::uint64_t bit = m % (8 * value.size());
  value[bit / 8] = static_cast<char>(value[bit / 8] ^ (1 << bit % 8));
  it->second = std::make_shared<const std::string>(std::move(value));
  return it->first;
}

class MemoryStore::Image final : public DiskImage {
 public:
  explicit Image(Map durable) : map(std::move(durable)) {}
  const Map map;
};

std::shared_ptr<const DiskImage> MemoryStore::image() const {
  std::lock_guard lock(mutex_);
  Map durable = *visible_;
  for (auto changes = unsynced_.rbegin(); changes != unsynced_.rend(); ++changes) undo(*changes, durable);
  return std::make_shared<Image>(std::move(durable));
}

void MemoryStore::become(Map map) {
  checkNoSnapshots();
  visible_ = std::make_shared<Map>(std::move(map));
  unsynced_.clear();
  resetFaults();
}

void MemoryStore::restoreImage(const DiskImage& image) {
  const auto* ours = dynamic_cast<const Image*>(&image);
  WITAN_CHECK(ours, "an image goes back to a store of the kind it was taken from");
  std::lock_guard lock(mutex_);
  become(ours->map);
}

void MemoryStore::wipe() {
  std::lock_guard lock(mutex_);
  become({});
}

void MemoryStore::visitBytes(const Visitor& visit) const {
  std::lock_guard lock(mutex_);
  for (const auto& [key, value] : *visible_) {
    if (!visit(key, *value)) return;
  }
  for (const Changes& changes : unsynced_) {
    for (const Change& change : changes) {
      if (change.before && !visit(change.key, *change.before)) return;
    }
  }
}

std::size_t MemoryStore::unsyncedBatches() const {
  std::lock_guard lock(mutex_);
  return unsynced_.size();
}

}  // namespace witan::store
