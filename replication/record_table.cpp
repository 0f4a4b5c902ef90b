#include "replication/record_table.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"

namespace witan::replication {

namespace {

constexpr std::size_t kRecordsPerBucket = 4;

// Each is there for every version that a device holds.
static_assert(sizeof(Held) <= 104 && sizeof(Record) <= 48);

// Whether a record stands before (kind, key) of this hash.
bool before(const Record& record, std::uint64_t hash, Kind kind, std::string_view key) {
  if (record.hash != hash) return record.hash < hash;
  if (record.kind != kind) return record.kind < kind;
  return record.key() < key;
}

// A plain loop: every read of a record comes here, and g++ 12 leaves the predicate of std::find_if out of line.
auto place(auto& records, std::uint64_t hash, Kind kind, std::string_view key) {
  auto at = records.begin();
  while (at != records.end() && before(**at, hash, kind, key)) ++at;
  return at;
}

bool matches(const Record& record, Kind kind, std::string_view key) {
  return record.kind == kind && record.key() == key;
}

}  // namespace

HeldBody& HeldBody::operator=(std::string_view bytes) {
  if (bytes.empty()) return bytes_.reset(), *this;
  const auto size = static_cast<std::uint32_t>(bytes.size());
  auto room = std::make_unique_for_overwrite<char[]>(sizeof size + bytes.size());
  std::memcpy(room.get(), &size, sizeof size);
  std::ranges::copy(bytes, room.get() + sizeof size);
  bytes_ = std::move(room);
  return *this;
}

HeldBody::operator std::string_view() const {
  if (!bytes_) return {};
  std::uint32_t size = 0;
  std::memcpy(&size, bytes_.get(), sizeof size);
  return {bytes_.get() + sizeof size, size};
}

Held::Rare& Held::rare() {
  if (!rare_) rare_ = std::make_unique<Rare>();
  return *rare_;
}

const Context& Held::context() const {
  static const Context kNothing;
  return rare_ ? rare_->context : kNothing;
}

void Held::setContext(Context context) {
  if (rare_ || !context.empty()) rare().context = std::move(context);
  if (rare_ && rare_->context.empty() && rare_->base == 0 && !rare_->whole) rare_.reset();
}

void Held::setBase(Seq base, std::uint32_t changed) {
  if (rare_ || base != 0 || changed != 0) rare().base = base, rare().changed = changed;
}

std::unique_ptr<Record> Record::make(Kind kind, std::uint64_t hash, std::string_view key) {
  void* const room = ::operator new(sizeof(Record) + key.size());
  std::unique_ptr<Record> record(::new (room) Record(kind, hash, static_cast<std::uint32_t>(key.size())));
  std::ranges::copy(key, static_cast<char*>(room) + sizeof(Record));
  return record;
}

bool OriginOrder::operator()(const Held& a, const Held& b) const {
  if (a.seq != b.seq) return a.seq < b.seq;
  if (a.record->hash != b.record->hash) return a.record->hash < b.record->hash;
  if (a.record->kind != b.record->kind) return a.record->kind < b.record->kind;
  return a.record->key() < b.record->key();
}

RecordTable::~RecordTable() {
  unstripped_.clear();
  for (Origin& origin : origins_) origin.clear_and_dispose([](Held* held) { delete held; });
}

std::uint64_t RecordTable::hashOf(Kind kind, std::string_view key) const {
  char scratch[257];
  if (key.size() >= sizeof scratch) {
    std::string all(1, static_cast<char>(kind));
    all += key;
    return key_.hash64(all);
  }
  scratch[0] = static_cast<char>(kind);
  std::ranges::copy(key, scratch + 1);
  return key_.hash64({scratch, key.size() + 1});
}

Record* RecordTable::find(Kind kind, std::string_view key) {
  const std::uint64_t hash = hashOf(kind, key);
  auto& records = buckets_[bucketOf(hash)].records;
  const auto at = place(records, hash, kind, key);
  return at != records.end() && matches(**at, kind, key) ? at->get() : nullptr;
}

Record& RecordTable::findOrAdd(Kind kind, std::string_view key) {
  const std::uint64_t hash = hashOf(kind, key);
  auto* records = &buckets_[bucketOf(hash)].records;
  auto at = place(*records, hash, kind, key);
  if (at != records->end() && matches(**at, kind, key)) return **at;
  if (++records_ > kRecordsPerBucket * buckets_.size()) {
    grow();
    records = &buckets_[bucketOf(hash)].records;
    at = place(*records, hash, kind, key);
  }
  return **records->insert(at, Record::make(kind, hash, key));
}

Held& RecordTable::add(Record& record, std::unique_ptr<Held> owned) {
  Held& held = *owned.release();  // its origin owns it from here
  held.record = &record;
  record.versions.push_back(&held);
  Origin& mine = origin(held.writer);
  mine.insert(mine.end(), held);
  if (held.tombstone || !held.context().empty()) unstripped_.push_back(held);
  if (counts(held)) {
    digest_.add(held.fingerprint());
    buckets_[bucketOf(record.hash)].digest.add(held.fingerprint());
  }
  return held;
}

void RecordTable::remove(Held& held) {
  Record& record = *held.record;
  Bucket& bucket = buckets_[bucketOf(record.hash)];
  if (counts(held)) {
    digest_.remove(held.fingerprint());
    bucket.digest.remove(held.fingerprint());
  }
  if (static_cast<boost::intrusive::list_base_hook<>&>(held).is_linked())
    unstripped_.erase(unstripped_.iterator_to(held));
  Origin& mine = origin(held.writer);
  mine.erase(mine.iterator_to(held));
  const auto at = std::ranges::find(record.versions, &held);
  WITAN_CHECK(at != record.versions.end(), "a version stands in its record");
  *at = record.versions.back();
  record.versions.pop_back();
  delete &held;
  if (!record.versions.empty()) return;
  const auto where = place(bucket.records, record.hash, record.kind, record.key());
  WITAN_CHECK(where != bucket.records.end() && where->get() == &record, "a record stands in its bucket");
  bucket.records.erase(where);
  --records_;
}

void RecordTable::stripped(Held& held) {
  held.setContext({});
  if (!held.tombstone && static_cast<boost::intrusive::list_base_hook<>&>(held).is_linked())
    unstripped_.erase(unstripped_.iterator_to(held));
}

RecordTable::Origin& RecordTable::origin(WriterIndex writer) {
  while (origins_.size() <= writer) origins_.emplace_back();
  return origins_[writer];
}

// Bucket i becomes 2i and 2i + 1: the order by hash stays as it is.
void RecordTable::grow() {
  std::vector<Bucket> wider(buckets_.size() * 2);
  ++bits_;
  for (Bucket& bucket : buckets_) {
    for (auto& record : bucket.records) {
      Bucket& to = wider[bucketOf(record->hash)];
      for (const Held* held : record->versions)
        if (counts(*held)) to.digest.add(held->fingerprint());
      to.records.push_back(std::move(record));
    }
  }
  buckets_ = std::move(wider);
}

Digest RecordTable::digest(std::uint64_t first, std::uint64_t last) const {
  Digest sum;
  for (std::size_t b = bucketOf(first); b <= bucketOf(last); ++b) {
    const Bucket& bucket = buckets_[b];
    if (b != bucketOf(first) && b != bucketOf(last)) {
      sum.add(bucket.digest);
      continue;
    }
    for (const auto& record : bucket.records)
      if (record->hash >= first && record->hash <= last)
        for (const Held* held : record->versions)
          if (counts(*held)) sum.add(held->fingerprint());
  }
  return sum;
}

void RecordTable::visit(std::uint64_t first, std::uint64_t last, const std::function<bool(Record&)>& visitor) {
  for (std::size_t b = bucketOf(first); b <= bucketOf(last); ++b)
    for (const auto& record : buckets_[b].records)
      if (record->hash >= first && record->hash <= last)
        if (!visitor(*record)) return;
}

}  // namespace witan::replication
