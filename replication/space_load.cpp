// Reading a space back, handing out its notification batches, and checking its promises: what happens once, not per
// change.
#include <algorithm>
#include <map>

#include "base/check.h"
#include "replication/space.h"
#include "replication/space_rows.h"

namespace witan::replication {

Status Space::load() {
  WITAN_CHECK(changes_ == 0 && writers_.size() == 0, "a space is loaded once, first");
  WITAN_DO(loadWriters());
  WITAN_TRY(vector, store_.get(prefix_ + rows::kVector));
  if (vector) {
    WITAN_TRY(decoded, rows::decodeVector(*vector));
    vector_ = std::move(decoded);
  }
  WITAN_TRY(delivered, store_.get(prefix_ + rows::kDelivered));
  if (delivered) {
    WITAN_TRY(decoded, rows::decodeVector(*delivered));
    delivered_ = std::move(decoded);
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
  return status;
}

Status Space::loadWriters() {
  const std::string prefix = prefix_ + rows::kWriter;
  Status status = okStatus();
  WITAN_DO(store_.scan(prefix, {}, [&](std::string_view key, std::string_view name) {
    if (rows::bigEndian(key.substr(prefix.size())) != writers_.size() || writers_.find(name) ||
        writers_.size() >= kMaxWriters) {
      status = corrupt("the writers' rows have a gap or a repetition at " + std::string(name));
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
  const auto place = [&] { return std::string(traits.name) + " " + std::string(key.key); };
  auto held = std::make_unique<Held>();
  std::string_view body;
  if (Status status = rows::decodeVersion(value, *held, body); !status.ok())
    return corrupt(place() + ": " + status.error().message);
  if (key.writer >= writers_.size() || std::any_of(held->context.begin(), held->context.end(),
                                                   [&](const ContextEntry& e) { return e.writer >= writers_.size(); }))
    return corrupt(place() + ": a writer that has no row");
  held->writer = key.writer;
  held->seq = key.seq;
  // What was superseded stands in the context of what superseded it.
  reached_.raise(key.writer, key.seq);
  for (const ContextEntry& e : held->context) reached_.raise(e.writer, e.seq);
  Record& record = table_.findOrAdd(key.kind, key.key);
  held->fingerprint = fingerprintOf(record, *held, body);
  if (traits.resident) held->body = body;
  if (traits.event && !delivered_.covers(key.writer, key.seq))
    undelivered_.emplace(std::pair(key.writer, key.seq), key.kind);
  table_.add(record, std::move(held));
  if (traits.contested && record.versions.size() > 1) contested_.insert(record.key);
  return okStatus();
}

Result<std::vector<BatchEvent>> Space::takeEvents() {
  std::vector<BatchEvent> due;
  for (const auto& [dot, kind] : undelivered_) {
    const auto [writer, seq] = dot;
    if (!vector_.covers(writer, seq)) continue;
    const Record* record = table_.find(kind, writers_.name(writer) + ":" + std::to_string(seq));
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
    return std::string(schemas_.traits(record.kind).name) + " " + record.key;
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
      if (fingerprintOf(record, *a, *body) != a->fingerprint)
        status = corrupt(placeOf(record) + ": the fingerprint is not its content's");
      if (!a->tombstone && schemas_.traits(record.kind).digested) digest.add(a->fingerprint);
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
  return okStatus();
}

}  // namespace witan::replication
