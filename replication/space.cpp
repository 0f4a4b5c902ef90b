#include "replication/space.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "replication/space_rows.h"

namespace witan::replication {

const char* toString(Arrival arrival) {
  switch (arrival) {
    case Arrival::inserted: return "inserted";
    case Arrival::duplicate: return "duplicate";
    case Arrival::covered: return "covered";
    case Arrival::dominated: return "dominated";
    case Arrival::baseMissing: return "baseMissing";
    case Arrival::equivocation: return "equivocation";
    case Arrival::malformed: return "malformed";
    case Arrival::keyUnknown: return "keyUnknown";
    case Arrival::unproven: return "unproven";
  }
  return "?";
}

Space::Space(const store::Reader& store, std::string prefix, const FingerprintKey& key, const RecordSchemas& schemas,
             store::WriteBatch& pending)
    : store_(store),
      prefix_(std::move(prefix)),
      key_(key),
      schemas_(schemas),
      pending_(pending),
      table_(key, schemas),
      seals_(prefix_, pending, writers_) {}

// --- who writes

Result<WriterIndex> Space::intern(std::string_view name) {
  if (const auto known = writers_.find(name)) return *known;
  WITAN_DO(validateId("writer", name));
  if (writers_.size() >= kMaxWriters)
    return invalid(concat("the space has ", kMaxWriters, " writers, no more fit"),
                   "retire devices that are gone: witan device retire");
  const WriterIndex index = writers_.intern(name);
  writerHashes_.push_back(key_.hash64(name));
  std::string row = prefix_ + rows::kWriter;
  rows::putBigEndian(row, index, 4);
  pending_.put(row, name);
  return index;
}

Status Space::become(std::string_view writerName) {
  WITAN_SET(self_, intern(writerName));
  named_ = true;
  seals_.begin(self_, vector_.at(self_));
  atLastBatch_ = {};  // a new process names everything once more
  return okStatus();
}

void Space::retire(std::string_view writer, Seq final) {
  const auto index = writers_.find(writer);
  if (!index || *index == self_) return;
  if (vector_.covers(*index, final))
    retired_.insert(*index);
  else
    retired_.erase(*index);  // a later retirement can show a higher final counter
}

// --- reading

Result<std::string> Space::bodyOf(const Held& held) const {
  if (schemas_.traits(held.record->kind).resident || !held.body.empty() || held.tombstone)
    return std::string(held.body);
  WITAN_TRY(value, store_.get(rowKey(held)));
  if (!value) return corrupt("the store has lost the body of " + std::string(held.record->key()));
  Held row;
  std::string_view body;
  WITAN_DO(rows::decodeVersion(*value, row, body));
  return std::string(body);
}

Result<std::vector<Version>> Space::versions(Kind kind, std::string_view key) {
  std::vector<Version> out;
  const Record* record = table_.find(kind, key);
  if (record == nullptr) return out;
  for (const Held* held : record->versions) {
    WITAN_TRY(body, bodyOf(*held));
    Version version{{writers_.name(held->writer), held->seq}, {}, std::move(body), held->tombstone};
    for (const ContextEntry& e : held->context()) version.context.raise(writers_.name(e.writer), e.seq);
    version.context.raise(version.dot.host, version.dot.counter);
    out.push_back(std::move(version));
  }
  std::ranges::sort(out, [](const Version& a, const Version& b) { return a.dot < b.dot; });
  return out;
}

std::vector<std::string> Space::keys(Kind kind, std::string_view prefix) {
  std::vector<std::string> out;
  table_.visit([&](Record& record) {
    if (record.kind == kind && record.key().starts_with(prefix)) out.emplace_back(record.key());
    return true;
  });
  std::ranges::sort(out);
  return out;
}

// --- writing

Status Space::checkWrite(const Write& write) {
  const KindTraits& traits = schemas_.traits(write.kind);
  const bool fixed = !traits.register_ && !traits.guarded;
  if (fixed && !write.tombstone && table_.find(write.kind, write.key) != nullptr)
    return conflict(concat(traits.name, " ", write.key, " exists and never changes"));
  if (write.tombstone && !traits.removable) return invalid(write.key + ": it cannot be taken away");
  if (write.tombstone) return write.body.empty() ? okStatus() : invalid(write.key + ": a tombstone has no body");
  if (write.body.size() > kMaxBodyBytes)
    return invalid(concat(write.key, ": ", write.body.size(), " bytes are more than ", kMaxBodyBytes));
  if (!write.check.done()) WITAN_DO(schemas_.check(write.kind, write.body, selfName()));
  if (!traits.guarded) return okStatus();
  WITAN_TRY(held, versions(write.kind, write.key));
  return schemas_.checkSuccession(write.kind, write.key, held, write.body);
}

Status Space::checkWrites(std::span<const Write> writes) {
  WITAN_CHECK(named_, "a space knows its writer before it writes");
  if (writes.empty() || writes.size() > kMaxCommitWrites)
    return invalid(concat("a commit has 1 to ", kMaxCommitWrites, " writes, this one has ", writes.size()));
  std::size_t bytes = 0;
  std::set<std::pair<Kind, std::string_view>> seen;
  for (const Write& write : writes) {
    const KindTraits& traits = schemas_.traits(write.kind);
    if (!traits.event) WITAN_DO(validateId(traits.name, write.key));
    if (traits.event && !write.key.empty())
      return invalid(concat("a ", traits.name, "'s key is its dot: leave it empty"));
    if (!seen.insert({write.kind, write.key}).second) return invalid("a commit writes " + write.key + " twice");
    WITAN_DO(checkWrite(write));
    bytes += rowBytes(write);
  }
  if (bytes > kMaxCommitBytes) return invalid(concat("a commit of ", bytes, " bytes is more than ", kMaxCommitBytes));
  return okStatus();
}

// At most, as a row of a segment.
std::size_t Space::rowBytes(const Write& write) {
  constexpr std::size_t fixed = 96, entry = 12;
  const Record* record = table_.find(write.kind, write.key);
  return fixed + write.key.size() + write.body.size() + (record == nullptr ? 0 : entry * seenOf(*record).size());
}

Result<Dot> Space::commit(std::span<const Write> writes) {
  WITAN_DO(checkWrites(writes));
  const Seq seq = vector_.at(self_) + 1;
  for (const Write& write : writes) {
    const KindTraits& traits = schemas_.traits(write.kind);
    const std::string key = traits.event ? concat(selfName(), ":", seq) : write.key;
    auto held = std::make_unique<Held>();
    held->writer = self_;
    held->seq = seq;
    held->tombstone = write.tombstone;
    held->body = write.body;
    Record& record = table_.findOrAdd(write.kind, key);
    if (traits.register_ || write.tombstone) held->setContext(seenOf(record));
    hold(record, std::move(held));
  }
  vector_.raise(self_, seq);
  if (std::ranges::any_of(writes, [&](const Write& w) { return schemas_.traits(w.kind).event; }))
    atLastBatch_ = vector_;
  vectorBehind_ = true;
  return Dot{selfName(), seq};
}

// Everything that someone has seen who has seen all versions of the record, but for this writer's own.
Context Space::seenOf(const Record& record) const {
  Context context;
  const auto raise = [&](WriterIndex w, Seq s) {
    if (w == self_) return;
    for (ContextEntry& e : context)
      if (e.writer == w) {
        e.seq = std::max(e.seq, s);
        return;
      }
    context.push_back({w, s});
  };
  for (const Held* held : record.versions) {
    raise(held->writer, held->seq);
    for (const ContextEntry& e : held->context()) raise(e.writer, e.seq);
  }
  return context;
}

bool Space::unproven(WriterIndex writer, Seq seq) const {
  return !vector_.covers(writer, seq) && seq > seals_.counted(writer) && seals_.mustSeal(writer, seq) &&
         !mutated("anyCounter") && !mutated("anyRowSeal");
}

// A repair may bring what the author of a held version had seen, of which nothing is known here any more: its dot had
// two contents, and everybody knew one of them. Without it, what it replaced stands beside it here, and there not.
Arrival Space::again(Held& held, const Incoming& in, Gate gate) {
  const bool knowsMore = in.base == 0 && held.context().empty() && in.context != nullptr && !in.context->empty();
  if (gate == Gate::closed || !knowsMore || prove(in, in.body) != Arrival::inserted) return Arrival::duplicate;
  eraseVersion(held);
  return receive(in, gate);
}

Arrival Space::receive(const Incoming& in, Gate gate) {
  Record* record = table_.find(in.kind, in.key);
  const Held* base = nullptr;
  bool dominated = false;
  if (record != nullptr) {
    for (Held* held : record->versions) {
      if (held->writer == in.writer && held->seq == in.seq) {
        if (in.base > 0 || held->fingerprint() == fingerprintOf(*record, *held, in.body)) return again(*held, in, gate);
        const Arrival proven = prove(in, in.body);
        return proven == Arrival::inserted ? Arrival::equivocation : proven;
      }
      dominated = dominated || held->saw(in.writer, in.seq);
      if (held->writer == in.writer && held->seq == in.base) base = held;
    }
  }
  if (gate == Gate::closed && vector_.covers(in.writer, in.seq) && !mutated("noGate")) return Arrival::covered;
  if (dominated && !mutated("swapDominance")) return Arrival::dominated;
  auto held = std::make_unique<Held>();
  held->writer = in.writer;
  held->seq = in.seq;
  held->tombstone = in.tombstone;
  if (in.context != nullptr) held->setContext(*in.context);
  if (mutated("swapDominance") && record != nullptr)
    for (const Held* other : record->versions)
      if (held->saw(other->writer, other->seq)) return Arrival::dominated;
  if (in.base > 0) {
    if (base == nullptr) return Arrival::baseMissing;
    auto body = schemas_.applyDelta(base->body, in.body);
    if (!body.ok() || !schemas_.check(in.kind, *body, writers_.name(in.writer)).ok()) return Arrival::malformed;
    held->body = *body;
  } else {
    held->body = in.body;
  }
  if (const Arrival proof = prove(in, held->body); proof != Arrival::inserted)
    return proof == Arrival::unproven && in.base > 0 ? Arrival::baseMissing : proof;  // it may be another base
  proven(in, hold(record != nullptr ? *record : table_.findOrAdd(in.kind, in.key), std::move(held)));
  return Arrival::inserted;
}

Status Space::settle(const Incoming& in) {
  Record* record = table_.find(in.kind, in.key);
  WITAN_CHECK(record != nullptr && in.base == 0, "an equivocation is between something held and a whole body");
  const auto at =
      std::ranges::find_if(record->versions, [&](const Held* h) { return h->writer == in.writer && h->seq == in.seq; });
  WITAN_CHECK(at != record->versions.end(), "an equivocation is between something held and something that came");
  Held& held = **at;
  auto other = std::make_unique<Held>();
  other->writer = in.writer;
  other->seq = in.seq;
  other->tombstone = in.tombstone;
  if (in.context != nullptr) other->setContext(*in.context);
  other->body = in.body;
  if (held.fingerprint() < fingerprintOf(*record, *other, other->body)) return okStatus();
  const bool event = schemas_.traits(in.kind).event;
  for (const Held* own : record->versions)
    if (!event && own->writer == self_ && own != &held && !other->saw(self_, own->seq))
      return conflict(concat(schemas_.traits(in.kind).name, " ", in.key, ": what this device wrote there, ", selfName(),
                             ":", own->seq, ", stands beside what it is to commit anew"));
  Held lost;
  lost.writer = held.writer;
  lost.seq = held.seq;
  lost.tombstone = held.tombstone;
  lost.setContext(held.context());
  WITAN_TRY(body, bodyOf(held));
  lost.body = body;
  const std::string key(record->key());
  eraseVersion(held);  // maybe the record with it
  ++losses_;
  proven(in, hold(table_.findOrAdd(in.kind, key), std::move(other)));
  // An event is its dot; committed anew it would be another change.
  return event ? okStatus() : reissue(lost, in.kind, key);
}

Status Space::reissue(const Held& lost, Kind kind, const std::string& key) {
  auto held = std::make_unique<Held>();
  held->writer = self_;
  held->seq = vector_.at(self_) + 1;
  held->tombstone = lost.tombstone;
  held->body = std::string_view(lost.body);
  const KindTraits& traits = schemas_.traits(kind);
  if (traits.register_ || lost.tombstone) {
    Context context;
    for (const ContextEntry& e : lost.context())
      if (e.writer != self_) context.push_back(e);
    if (lost.writer != self_ && lost.seq > 1) context.push_back({lost.writer, lost.seq - 1});
    held->setContext(std::move(context));
  }
  if (traits.deltas && !lost.tombstone) {
    WITAN_TRY(body, schemas_.withAuthor(lost.body, writers_.name(lost.writer), selfName()));
    held->body = body;
  }
  vector_.raise(self_, held->seq);
  hold(table_.findOrAdd(kind, key), std::move(held));
  putVector(rows::kVector, vector_);
  return okStatus();
}

Held& Space::hold(Record& record, std::unique_ptr<Held> owned) {
  noteFields(record, *owned);
  owned->setFingerprint(fingerprintOf(record, *owned, owned->body));
  boost::container::small_vector<Held*, 4> superseded;
  for (Held* other : record.versions)
    if (owned->saw(other->writer, other->seq) && !mutated("keepSuperseded")) superseded.push_back(other);
  noteReached(owned->writer, owned->seq);
  Held& held = table_.add(record, std::move(owned));
  for (Held* other : superseded) eraseVersion(*other);
  putRow(held, held.body);
  const KindTraits& traits = schemas_.traits(record.kind);
  if (!traits.resident) fresh_.push_back(&held), held.fresh = true;
  if (traits.event) undelivered_.emplace(std::pair(held.writer, held.seq), record.kind);
  if (traits.contested && record.versions.size() > 1) contested_.emplace(record.key());
  ++changes_;
  return held;
}

void Space::noteReached(WriterIndex writer, Seq seq) {
  if (writer >= reachedIn_.size()) reachedIn_.resize(writer + 1);
  if (seq > reached_.at(writer)) {
    reached_.raise(writer, seq);
    reachedIn_[writer] = walks_;
    return;
  }
  if (seq == reached_.at(writer) && reachedIn_[writer] == walks_) return;  // more of one commit, in one go
  if (mutated("orderByArrival")) return;
  ++outOfOrder_;
  std::string value;
  DenseWriter(value).varint(outOfOrder_);
  pending_.put(prefix_ + rows::kOutOfOrder, value);
}

bool Space::settled() {
  for (WriterIndex w = 0; w < writers_.size(); ++w) {
    const RecordTable::Origin& held = table_.origin(w);
    if (!held.empty() && !vector_.covers(w, held.rbegin()->seq)) return false;
  }
  return true;
}

// Which fields changed since the writer's own previous version, if that is what this one replaces.
void Space::noteFields(const Record& record, Held& held) const {
  if (!schemas_.traits(record.kind).deltas || held.tombstone) return;
  for (const Held* other : record.versions) {
    if (other->writer != held.writer || other->tombstone || other->seq >= held.seq) continue;
    held.setBase(other->seq, schemas_.changedFields(other->body, held.body));
  }
}

void Space::advance(const VersionVector& to) {
  if (to.le(vector_)) return;
  vector_.join(to);
  putVector(rows::kVector, vector_);
  ++changes_;
}

void Space::drop(Held& held) {
  eraseVersion(held);
  ++changes_, ++losses_;
}

void Space::eraseVersion(Held& held) {
  if (held.fresh) noLongerFresh(held);
  seals_.release(held);
  pending_.erase(rowKey(held));
  if (schemas_.traits(held.record->kind).event) undelivered_.erase({held.writer, held.seq});
  table_.remove(held);
}

// --- housekeeping

VectorClock Space::dependencies() const {
  VectorClock out;
  for (WriterIndex w = 0; w < vector_.end(); ++w)
    if (w != self_ && vector_.at(w) > atLastBatch_.at(w)) out.set(writers_.name(w), vector_.at(w));
  return out;
}

bool Space::stabilise(const VersionVector& stable) {
  bool busy = false;
  auto& list = table_.unstripped();
  const VersionVector& everywhere = mutated("stripUnstable") ? vector_ : stable;
  for (auto at = list.begin(); at != list.end();) {
    Held& held = *at++;
    const bool forget = held.tombstone && mutated("forgetTombstones");
    const VersionVector& needed = forget ? vector_ : everywhere;
    const bool known =
        needed.covers(held.writer, held.seq) &&
        std::ranges::all_of(held.context(), [&](const ContextEntry& e) { return needed.covers(e.writer, e.seq); });
    if (!known) continue;
    if (held.tombstone) {
      busy = true;
      // Whatever stands beside it: what it removed is below every vector now, and comes back nowhere.
      eraseVersion(held);
      ++losses_;
      continue;
    }
    if (held.record->versions.size() != 1) continue;
    busy = true;
    auto body = bodyOf(held);
    if (!body.ok()) continue;
    seals_.shorten(held);
    table_.stripped(held);
    putRow(held, *body);
  }
  return busy;
}

bool Space::forget(Kind kind, std::string_view key, const VersionVector& stable) {
  if (schemas_.traits(kind).digested) return false;
  Record* record = table_.find(kind, key);
  if (record == nullptr || record->versions.size() != 1) return false;
  Held& held = *record->versions.front();
  if (!stable.covers(held.writer, held.seq) || undelivered_.contains({held.writer, held.seq})) return false;
  eraseVersion(held);
  return true;
}

void Space::completeBatch() {
  seals_.write();
  if (vectorBehind_) putVector(rows::kVector, vector_);
  vectorBehind_ = false;
}

void Space::flushed() {
  for (Held* held : fresh_) {
    held->body = HeldBody();
    held->fresh = false;
  }
  fresh_.clear();
}

// A version that goes before it was durable has mostly arrived just now.
void Space::noLongerFresh(Held& held) {
  const auto at = std::find(fresh_.rbegin(), fresh_.rend(), &held);
  WITAN_CHECK(at != fresh_.rend(), "what is fresh is listed");
  *at = fresh_.back();
  fresh_.pop_back();
  held.fresh = false;
}

// --- rows

Uint128 Space::fingerprintOf(const Record& record, const Held& held, std::string_view body) const {
  scratch_.clear();
  rows::putBigEndian(scratch_, record.hash, 8);
  rows::putBigEndian(scratch_, writerHashes_[held.writer], 8);
  rows::putBigEndian(scratch_, held.seq, 8);
  scratch_.push_back(held.tombstone ? 1 : 0);
  scratch_.append(body);
  return key_.hash128(scratch_);
}

std::string Space::rowKey(const Held& held) const {
  return rows::versionKey(prefix_, {held.record->kind, held.record->key(), held.writer, held.seq});
}

void Space::putRow(const Held& held, std::string_view body) {
  pending_.put(rowKey(held), rows::encodeVersion(held, body));
}

void Space::putVector(char row, const VersionVector& vector) {
  pending_.put(prefix_ + row, rows::encodeVector(vector));
}

Status Space::load() {
  WITAN_CHECK(changes_ == 0 && writers_.size() == 0, "a space is loaded once, first");
  WITAN_DO(loadWriters());
  WITAN_TRY(vector, store_.get(prefix_ + rows::kVector));
  if (vector) {
    WITAN_SET(vector_, rows::decodeVector(*vector));
  }
  WITAN_TRY(delivered, store_.get(prefix_ + rows::kDelivered));
  if (delivered) {
    WITAN_SET(delivered_, rows::decodeVector(*delivered));
  }
  WITAN_TRY(outOfOrder, store_.get(prefix_ + rows::kOutOfOrder));
  if (outOfOrder) outOfOrder_ = DenseReader(*outOfOrder).varint();
  reached_ = vector_;
  if (vector_.end() > writers_.size() || delivered_.end() > writers_.size())
    return corrupt("a version vector names a writer that has no row");
  Status status = okStatus();
  const std::string prefix = prefix_ + rows::kRecord;
  WITAN_DO(store_.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
    status = loadRecord(key.substr(prefix.size()), value);
    return status.ok();
  }));
  WITAN_DO(status);
  return seals_.load(store_, table_);
}

Status Space::loadWriters() {
  const std::string prefix = prefix_ + rows::kWriter;
  Status status = okStatus();
  WITAN_DO(store_.scan(prefix, {}, [&](std::string_view key, std::string_view name) {
    if (rows::bigEndian(key.substr(prefix.size())) != writers_.size() || writers_.find(name) ||
        writers_.size() >= kMaxWriters) {
      status = corrupt(concat("the writers' rows have a gap or a repetition at ", name));
      return false;
    }
    writers_.intern(name);
    writerHashes_.push_back(key_.hash64(name));
    return true;
  }));
  return status;
}

Status Space::loadRecord(std::string_view row, std::string_view value) {
  WITAN_TRY(key, rows::parseVersionKey(row));
  const KindTraits& traits = schemas_.traits(key.kind);
  const auto place = [&] { return concat(traits.name, " ", key.key); };
  auto held = std::make_unique<Held>();
  std::string_view body;
  if (Status status = rows::decodeVersion(value, *held, body); !status.ok())
    return corrupt(place() + ": " + status.error().message);
  if (key.writer >= writers_.size() ||
      std::ranges::any_of(held->context(), [&](const ContextEntry& e) { return e.writer >= writers_.size(); }))
    return corrupt(place() + ": a writer that has no row");
  held->writer = key.writer;
  held->seq = key.seq;
  // The context of a version names the versions that it superseded.
  reached_.raise(key.writer, key.seq);
  for (const ContextEntry& e : held->context()) reached_.raise(e.writer, e.seq);
  Record& record = table_.findOrAdd(key.kind, key.key);
  held->setFingerprint(fingerprintOf(record, *held, body));
  if (traits.resident) held->body = body;
  if (traits.event && !delivered_.covers(key.writer, key.seq))
    undelivered_.emplace(std::pair(key.writer, key.seq), key.kind);
  table_.add(record, std::move(held));
  if (traits.contested && record.versions.size() > 1) contested_.emplace(record.key());
  return okStatus();
}

Result<std::vector<BatchEvent>> Space::takeEvents() {
  std::vector<BatchEvent> due;
  for (const auto& [dot, kind] : undelivered_) {
    const auto [writer, seq] = dot;
    if (!vector_.covers(writer, seq)) continue;
    const Record* record = table_.find(kind, concat(writers_.name(writer), ":", seq));
    WITAN_CHECK(record != nullptr && !record->versions.empty(), "an undelivered batch is held");
    WITAN_TRY(body, bodyOf(*record->versions.front()));
    due.push_back({{writers_.name(writer), seq}, std::move(body)});
  }
  WITAN_TRY(ordered, causalOrder(std::move(due), schemas_));
  std::erase_if(undelivered_, [&](const auto& entry) { return vector_.covers(entry.first.first, entry.first.second); });
  return ordered;
}

void Space::consumed(const VersionVector& upTo) {
  if (upTo.le(delivered_)) return;
  delivered_.join(upTo);
  putVector(rows::kDelivered, delivered_);
}

Status Space::checkIntegrity() {
  const auto placeOf = [&](const Record& record) {
    return concat(schemas_.traits(record.kind).name, " ", record.key());
  };
  Digest digest;
  Status status = okStatus();
  std::size_t held = 0;
  table_.visit([&](Record& record) {
    if (record.versions.empty()) status = corrupt(placeOf(record) + " has no version");
    for (const Held* a : record.versions) {
      ++held;
      auto body = bodyOf(*a);
      if (!body.ok()) {
        status = body.error();
        continue;
      }
      if (fingerprintOf(record, *a, *body) != a->fingerprint())
        status = corrupt(placeOf(record) + ": the fingerprint is not its content's");
      if (!a->tombstone && schemas_.traits(record.kind).digested) digest.add(a->fingerprint());
      for (const Held* b : record.versions)
        if (a != b && a->saw(b->writer, b->seq)) status = corrupt(placeOf(record) + ": no antichain");
    }
    return status.ok();
  });
  WITAN_DO(status);
  if (digest != table_.digest() || digest != table_.digest(0, ~std::uint64_t{0}))
    return corrupt("the digest is not the sum of what is held");
  std::size_t indexed = 0;
  for (WriterIndex w = 0; w < writers_.size(); ++w) indexed += table_.origin(w).size();
  if (indexed != held) return corrupt("the index by origin has other versions than the records");
  return seals_.check([&](const Held& each, Seq first) { return leafOf(each, first); });
}

}  // namespace witan::replication
