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
      : store_(store), view_(store, lock) {
    ++store_.snapshots_;
  }
  ~MemorySnapshot() override {
    std::lock_guard lock(store_.mutex_);
    --store_.snapshots_;
  }

  Result<std::optional<std::string>> get(std::string_view key) const override {
    WITAN_DO(countRead());
    return find(view_.map(), key);
  }
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override {
    WITAN_DO(countRead());
    visitAll(view_.map(), prefix, from, visit);
    return okStatus();
  }
  Result<std::optional<KeyValue>> last(std::string_view prefix) const override {
    WITAN_DO(countRead());
    return findLast(view_.map(), prefix);
  }

 private:
  Status countRead() const {
    std::lock_guard lock(store_.mutex_);
    return store_.countRead();
  }

  const MemoryStore& store_;
  MemoryStore::View view_;
};

MemoryStore::MemoryStore() : visible_(std::make_shared<Map>()) {}

MemoryStore::~MemoryStore() { WITAN_CHECK(snapshots_ == 0, "a store outlives its snapshots"); }

Result<std::optional<std::string>> MemoryStore::get(std::string_view key) const {
  std::lock_guard lock(mutex_);
  WITAN_DO(countRead());
  return find(*visible_, key);
}

Status MemoryStore::scan(std::string_view prefix, std::string_view from, const Visitor& visit) const {
  std::optional<View> view;
  {
    std::lock_guard lock(mutex_);
    WITAN_DO(countRead());
    view.emplace(*this, lock);
  }
  visitAll(view->map(), prefix, from, visit);  // without the mutex: the visitor may write
  return okStatus();
}

Result<std::optional<KeyValue>> MemoryStore::last(std::string_view prefix) const {
  std::lock_guard lock(mutex_);
  WITAN_DO(countRead());
  return findLast(*visible_, prefix);
}

std::unique_ptr<Snapshot> MemoryStore::snapshot() const {
  std::lock_guard lock(mutex_);
  return std::make_unique<MemorySnapshot>(*this, lock);
}

Status MemoryStore::write(const WriteBatch& batch) {
  WITAN_DO(checkLimits(batch));
  std::lock_guard lock(mutex_);
  if (batch.empty()) return closed_ ? Status(*closed_) : okStatus();
  return step("write", [&] { applyVisible(batch); });
}

Status MemoryStore::sync() {
  std::lock_guard lock(mutex_);
  return step("sync", [&] { makeDurable(); });
}

Status MemoryStore::writeSynced(const WriteBatch& batch) {
  WITAN_DO(checkLimits(batch));
  std::lock_guard lock(mutex_);
  if (!batch.empty()) WITAN_DO(step("write", [&] { applyVisible(batch); }));
  return step("sync", [&] { makeDurable(); });
}

template <class Effect>
Status MemoryStore::step(const char* name, Effect effect) {
  if (closed_) return *closed_;
  const std::uint64_t n = writeSteps_++;
  const bool fails = fail_ && fail_->at == n;
  const bool crashes = crash_ && crash_->at == n;
  const Moment moment = crashes ? crash_->moment : fails ? fail_->moment : Moment::after;
  if (moment == Moment::after) effect();
  if (!fails && !crashes) return okStatus();
  powerLost_ = crashes;
  closed_ = ioFailed("the memory store's " + std::string(name) + " (write step " + std::to_string(n) + ") failed (" +
                         (crashes ? "the power was lost" : "an injected fault") + ")",
                     "reopen the store");
  return *closed_;
}

void MemoryStore::applyVisible(const WriteBatch& batch) {
  Changes changes;
  changes.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    WriteBatch::Op op = batch.op(i);
    const bool isPut = op.kind == WriteBatch::Kind::put;
    changes.push_back({std::string(op.key), isPut ? std::make_shared<const std::string>(op.value) : nullptr});
  }
  if (visible_.use_count() > 1) visible_ = std::make_shared<Map>(*visible_);
  apply(changes, *visible_);
  unsynced_.push_back(std::move(changes));
}

void MemoryStore::makeDurable() {
  for (const Changes& changes : unsynced_) apply(changes, durable_);
  unsynced_.clear();
}

void MemoryStore::apply(const Changes& changes, Map& map) {
  for (const Change& change : changes) {
    if (change.value) {
      map[change.key] = change.value;
    } else {
      map.erase(change.key);
    }
  }
}

bool MemoryStore::tear(Changes& changes, std::size_t bytes) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    if (!change->value) continue;
    if (bytes >= change->value->size()) return false;
    change->value = std::make_shared<const std::string>(change->value->substr(0, bytes));
    return true;
  }
  return false;
}

Status MemoryStore::countRead() const {
  if (powerLost_) return *closed_;
  const std::uint64_t n = reads_++;
  if (failRead_ != n) return okStatus();
  failRead_.reset();
  return ioFailed("read " + std::to_string(n) + " of the memory store failed (an injected fault)");
}

void MemoryStore::failAt(std::uint64_t n, Moment moment) {
  std::lock_guard lock(mutex_);
  fail_ = Fault{writeSteps_ + n, moment};
}

void MemoryStore::crashAt(std::uint64_t n, Moment moment) {
  std::lock_guard lock(mutex_);
  crash_ = Fault{writeSteps_ + n, moment};
}

void MemoryStore::failReadAt(std::uint64_t n) {
  std::lock_guard lock(mutex_);
  failRead_ = reads_ + n;
}

CrashReport MemoryStore::crash(const CrashPlan& plan) {
  std::lock_guard lock(mutex_);
  WITAN_CHECK(snapshots_ == 0, "snapshots are not kept across a crash");
  CrashReport report;
  report.kept = std::min(plan.keepUnsynced, unsynced_.size());
  report.lost = unsynced_.size() - report.kept;
  unsynced_.resize(report.kept);
  if (plan.tearLastValue && report.kept > 0) report.torn = tear(unsynced_.back(), *plan.tearLastValue);
  makeDurable();
  visible_ = std::make_shared<Map>(durable_);
  closed_.reset();
  powerLost_ = false;
  fail_.reset();
  crash_.reset();
  failRead_.reset();
  return report;
}

std::uint64_t MemoryStore::writeSteps() const {
  std::lock_guard lock(mutex_);
  return writeSteps_;
}

std::uint64_t MemoryStore::reads() const {
  std::lock_guard lock(mutex_);
  return reads_;
}

bool MemoryStore::struck() const {
  std::lock_guard lock(mutex_);
  return closed_.has_value();
}

std::size_t MemoryStore::unsyncedBatches() const {
  std::lock_guard lock(mutex_);
  return unsynced_.size();
}

}  // namespace witan::store
